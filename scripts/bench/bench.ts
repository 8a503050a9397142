import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import { aborted } from '../../src/db/async.ts'
import { type BenchCluster, describeRun, startCluster } from './cluster.ts'

/** What a part of a bench gets. */
export interface Bench {
  readonly cluster: BenchCluster
  /** Ends what the part has started. */
  readonly cleanUp: AsyncDisposableStack
  /** This checkout and, with `--against`, the other one. */
  readonly checkouts: readonly Checkout[]
  /** What the command line says, else this; 1 with `--quick`. */
  rounds(usual: number): number
  seconds(usual: number): number
  /** A size that only `--quick` changes. */
  size(usual: number, quick: number): number
  /** Of a ledger: what the command line says, else as `size`. */
  events(usual: number, quick: number): number
}

export interface Checkout {
  readonly name: string
  readonly folder: string
}

/** Answers its section of the report in markdown. */
type Part = (bench: Bench) => Promise<string>

interface Flags {
  readonly only?: string
  readonly against?: string
  readonly rounds?: number
  readonly seconds?: number
  readonly events?: number
  readonly quick?: boolean
}

const positive = (text: string): number => {
  const value = Number(text)
  if (!(value > 0)) throw new InvalidArgumentError('Expected a number above 0.')
  return value
}

/**
 * Runs a bench by its command line, prints its report and ends the process: with 1 after a failure or a signal.
 * `comparesCheckouts`: whether it takes `--against`.
 */
export async function runBench(
  command: string,
  parts: Readonly<Record<string, Part>>,
  comparesCheckouts = true,
): Promise<never> {
  const against = new Option('--against <folder>', 'compare with another installed checkout, which takes turns')
  const program = new Command(`${command} --`)
    .addOption(new Option('--only <part>', 'one part').choices(Object.keys(parts)))
    .option('--rounds <n>', 'turns of each contender', positive)
    .option('--seconds <n>', 'seconds of a turn', positive)
    .option('--events <n>', 'events of the ledger, where a part makes one', positive)
    .option('--quick', 'a short form, to see that it works')
  const flags = (comparesCheckouts ? program.addOption(against) : program).parse().opts<Flags>()
  const stop = new AbortController()
  // Not `once`: a second signal must not end the process before it has cleaned up.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort())
  const cleanUp = new AsyncDisposableStack()
  process.exitCode = 1
  try {
    const done = measure(flags, parts, cleanUp).then(() => (process.exitCode = 0))
    await Promise.race([done, aborted(stop.signal)])
  } catch (error) {
    console.error(error)
  }
  await cleanUp.disposeAsync()
  process.exit()
}

async function measure(
  { only, against, rounds, seconds, events, quick = false }: Flags,
  parts: Readonly<Record<string, Part>>,
  cleanUp: AsyncDisposableStack,
): Promise<void> {
  const ours = { name: 'ours', folder: fileURLToPath(new URL('../..', import.meta.url)) }
  const common = {
    cluster: await startCluster(cleanUp),
    checkouts: against === undefined ? [ours] : [ours, { name: 'other', folder: resolve(against) }],
    rounds: (usual: number) => rounds ?? (quick ? 1 : usual),
    seconds: (usual: number) => seconds ?? (quick ? 1 : usual),
    size: (usual: number, short: number) => (quick ? short : usual),
    events: (usual: number, short: number) => events ?? (quick ? short : usual),
  }
  console.log(describeRun())
  for (const [name, part] of Object.entries(parts).filter(([name]) => (only ?? name) === name)) {
    const ends = cleanUp.use(new AsyncDisposableStack())
    console.log(`\n## ${name}\n\n${await part({ ...common, cleanUp: ends })}`)
    await ends.disposeAsync()
  }
}
