import { Command, InvalidArgumentError, Option } from 'commander'

export const parts = ['http', 'lone', 'rate', 'inprocess', 'growth', 'gate'] as const
export type Part = (typeof parts)[number]

/** Reports of their own, made only when they are asked for by name. */
const reports = ['stalls', 'allowance'] as const
export type Report = (typeof reports)[number]

export interface Options {
  readonly rounds: number
  /** Of each turn of a contender. */
  readonly seconds: number
  readonly parts: readonly Part[]
  /** Made instead of all parts; null: none. */
  readonly report: Report | null
  /** Events of the long ledger. */
  readonly events: number
  /** Whether each request has an idempotency key. */
  readonly keyed: boolean
  /** Whether the product limits requests as it does by default. */
  readonly rateLimited: boolean
  /** The folder of another checkout that gifts are compared with, and nothing else; null: none. */
  readonly against: string | null
  /** Only look at where the product's time goes. */
  readonly profile: boolean
}

interface Given {
  readonly rounds: number
  readonly seconds: number
  readonly quick?: true
  readonly only?: Part | Report
  readonly keys?: true
  readonly rateLimit?: true
  readonly against?: string
  readonly profile?: true
}

const positive = (text: string): number => {
  const value = Number(text)
  if (!(value > 0)) throw new InvalidArgumentError('It is a number above 0.')
  return value
}

const wholePositive = (text: string): number => {
  const value = positive(text)
  if (!Number.isInteger(value)) throw new InvalidArgumentError('It is a whole number.')
  return value
}

/** What the command line asks for. */
export function readOptions(argv: readonly string[]): Options {
  const given = new Command('npm run bench --')
    .description('Measures the product against a naive one and against HTTP and SQL alone; a markdown table on stdout')
    .option('--rounds <n>', 'turns of each contender', wholePositive, 5)
    .option('--seconds <n>', 'seconds of a turn', positive, 4)
    .option('--quick', 'everything in one round of 1 second, and the long ledger a quarter as long')
    .addOption(new Option('--only <part>', 'one part').choices([...parts, ...reports]))
    .option('--keys', 'an idempotency key with every request')
    .option('--rate-limit', 'with the default rate limit, which no sender here reaches')
    .option('--against <folder>', 'only gifts, beside those of another installed checkout')
    .option(
      '--profile',
      "where the time of the product's process and its statements goes; with --only lone, of lone requests",
    )
    .parse(argv)
    .opts<Given>()
  const report = reports.find((name) => name === given.only) ?? null
  return {
    rounds: given.quick ? 1 : given.rounds,
    seconds: given.quick ? 1 : given.seconds,
    events: given.quick ? 500_000 : 2_000_000,
    parts: parts.filter((part) => given.only === undefined || part === given.only),
    report,
    keyed: given.keys === true,
    rateLimited: given.rateLimit === true,
    against: given.against ?? null,
    profile: given.profile === true,
  }
}
