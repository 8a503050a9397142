import { Command, InvalidArgumentError, Option } from 'commander'
import { type ReadName, readNames } from './reads/workload.ts'

export const parts = ['http', 'lone', 'rate', 'inprocess', 'growth', 'gate'] as const
export type Part = (typeof parts)[number]

/** Separate reports, which only `--only` runs. */
const reports = ['reads', 'stalls', 'allowance', 'instances'] as const
export type Report = (typeof reports)[number]

export interface Options {
  readonly rounds: number
  /** Of each turn of an implementation. */
  readonly seconds: number
  readonly parts: readonly Part[]
  /** Runs instead of the parts; null: none. */
  readonly report: Report | null
  /** The reads that the report on reads measures, in addition to gifts and the mix. */
  readonly reads: readonly ReadName[]
  /** Events of the long ledger. */
  readonly events: number
  /** Whether each request has an idempotency key. */
  readonly keyed: boolean
  /** Whether the product limits requests as it does by default. */
  readonly rateLimited: boolean
  /** The folder of another checkout: only gifts are measured, on both; null: none. */
  readonly against: string | null
  /** Only profile the product. */
  readonly profile: boolean
}

interface Flags {
  readonly rounds: number
  readonly seconds: number
  readonly quick?: true
  readonly only?: Part | Report
  readonly reads?: readonly ReadName[]
  readonly keys?: true
  readonly rateLimit?: true
  readonly against?: string
  readonly profile?: true
}

const positive = (text: string): number => {
  const value = Number(text)
  if (!(value > 0)) throw new InvalidArgumentError('Expected a number above 0.')
  return value
}

const wholePositive = (text: string): number => {
  const value = positive(text)
  if (!Number.isInteger(value)) throw new InvalidArgumentError('Expected a whole number.')
  return value
}

const readList = (text: string): readonly ReadName[] => {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !readNames.some((known) => known === name))
  if (unknown.length > 0) throw new InvalidArgumentError(`Expected some of: ${readNames.join(', ')}.`)
  return readNames.filter((name) => names.includes(name))
}

/** Parses the command line. */
export function readOptions(argv: readonly string[]): Options {
  const flags = new Command('npm run bench --')
    .description(
      'Compares the product with a naive implementation, and with HTTP and SQL alone; prints a markdown table',
    )
    .option('--rounds <n>', 'turns of each implementation', wholePositive, 5)
    .option('--seconds <n>', 'seconds of a turn', positive, 4)
    .option('--quick', 'one round of 1 second, and a quarter of the events of the long ledger')
    .addOption(new Option('--only <part>', 'one part').choices([...parts, ...reports]))
    .option('--reads <names>', 'with --only reads: only these, separated by commas', readList)
    .option('--keys', 'an idempotency key with every request')
    .option('--rate-limit', 'with the default rate limit, which no sender here reaches')
    .option('--against <folder>', 'only gifts, compared with another installed checkout')
    .option(
      '--profile',
      'profiles the process and its statements; with --only lone, of one request at a time; with --only instances, what each stage of a gift costs the writer and the others',
    )
    .parse(argv)
    .opts<Flags>()
  const report = reports.find((name) => name === flags.only) ?? null
  return {
    rounds: flags.quick ? 1 : flags.rounds,
    seconds: flags.quick ? 1 : flags.seconds,
    events: flags.quick ? 500_000 : 2_000_000,
    parts: parts.filter((part) => flags.only === undefined || part === flags.only),
    report,
    reads: flags.reads ?? readNames,
    keyed: flags.keys === true,
    rateLimited: flags.rateLimit === true,
    against: flags.against ?? null,
    profile: flags.profile === true,
  }
}
