import { resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'

export interface LiveOptions {
  readonly rounds: number
  /** The folder of another checkout: only its fan-out is compared with ours; null: none. */
  readonly against: string | null
}

function wholePositive(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected a whole number of 1 or more.')
  return value
}

/** Parses the command line. */
export function readLiveOptions(argv: readonly string[]): LiveOptions {
  const flags = new Command('npm run bench:live --')
    .description('Measures fan-out to sockets; markdown tables on stdout')
    .option('--rounds <n>', 'rounds of each contender', wholePositive, 5)
    .option('--against <folder>', 'only compare with another installed checkout')
    .parse(argv)
    .opts<{ readonly rounds: number; readonly against?: string }>()
  return { rounds: flags.rounds, against: flags.against === undefined ? null : resolve(flags.against) }
}
