import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'

export const liveParts = ['fan-out', 'big-room', 'storm', 'restore', 'idle'] as const
export type LivePart = (typeof liveParts)[number]

export interface LiveOptions {
  readonly parts: readonly LivePart[]
  /** Null: those of each part. */
  readonly rounds: number | null
  /** Of a turn of the big room. */
  readonly seconds: number
  /** Null: those of each part. */
  readonly sockets: number | null
  /** Rooms of 100 sockets beside the big one. */
  readonly smallRooms: number
  /** Whether services get a port of their own for sockets, in LIVE_PORT. */
  readonly livePort: boolean
  /** The folder of another checkout, with which ours takes turns; null: none. */
  readonly against: string | null
}

function wholePositive(text: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected a whole number of 1 or more.')
  return value
}

interface Flags {
  readonly only?: LivePart
  readonly rounds?: number
  readonly seconds: number
  readonly sockets?: number
  readonly smallRooms: number
  readonly livePort?: true
  readonly against?: string
}

/** Parses the command line. */
export function readLiveOptions(argv: readonly string[]): LiveOptions {
  const flags = new Command('npm run bench:live --')
    .description('Measures sockets; markdown tables on stdout')
    .addOption(new Option('--only <part>', 'one part').choices(liveParts))
    .option(
      '--rounds <n>',
      'rounds of each contender; default: 5, of the storm 1; of the restore cuts, 20',
      wholePositive,
    )
    .option('--seconds <n>', 'seconds of a turn of the big room', wholePositive, 10)
    .option(
      '--sockets <n>',
      'sockets of the big room, default: 5,000; of the storm and of idle ones, 10,000',
      wholePositive,
    )
    .option('--small-rooms <n>', 'rooms of 100 sockets beside the big one', wholePositive, 20)
    .option('--live-port', 'services take sockets on a second port, that of LIVE_PORT')
    .option('--against <folder>', 'compare with another installed checkout')
    .parse(argv)
    .opts<Flags>()
  return {
    parts: liveParts.filter((part) => flags.only === undefined || part === flags.only),
    rounds: flags.rounds ?? null,
    seconds: flags.seconds,
    sockets: flags.sockets ?? null,
    smallRooms: flags.smallRooms,
    livePort: flags.livePort === true,
    against: flags.against === undefined ? null : resolve(flags.against),
  }
}
