import { resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'

export interface LiveOptions {
  readonly rounds: number
  /** The folder of another checkout that fan-out is compared with, and nothing else; null: none. */
  readonly against: string | null
}

function wholePositive(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('It is a whole number above 0.')
  return value
}

/** What the command line asks for. */
export function readLiveOptions(argv: readonly string[]): LiveOptions {
  const given = new Command('npm run bench:live --')
    .description('Measures fan-out to sockets; markdown tables on stdout')
    .option('--rounds <n>', 'rounds of each contender', wholePositive, 5)
    .option('--against <folder>', 'only compare with another installed checkout')
    .parse(argv)
    .opts<{ readonly rounds: number; readonly against?: string }>()
  return { rounds: given.rounds, against: given.against === undefined ? null : resolve(given.against) }
}
