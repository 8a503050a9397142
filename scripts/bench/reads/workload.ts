import { ROOMS } from '../workload.ts'

/** The first users: they also have histories and a chain of draws. Room n belongs to user n. */
export const HISTORY_USERS = ROOMS

/** A read of a client, below its prefix. */
interface Read {
  /** As Fastify matches it. */
  readonly route: string
  /** Whether only the first `HISTORY_USERS` have something to read. */
  readonly isHistory: boolean
  /** Of 100 requests of the mix. */
  readonly share: number
}

const read = (route: string, share: number): Read => ({ route, share, isHistory: false })
const history = (route: string, share: number): Read => ({ route, share, isHistory: true })

/** What is read, by name, and how often an app reads it: each screen's own state often, catalogues and histories rarely. */
export const reads = {
  wallet: read('/wallet', 25),
  'privilege wallet': read('/privilege-wallet', 4),
  room: read('/rooms/:uid', 20),
  game: read('/rooms/:uid/games/roulette', 14),
  bag: read('/bag', 6),
  decorations: read('/decorations', 5),
  'lucky chain': history('/fairness/lucky', 3),
  draws: history('/fairness/lucky/draws', 1),
  withdrawals: history('/agency/target-withdraw-requests', 1),
  transfers: history('/agency/target-transaction-requests', 1),
} as const satisfies Readonly<Record<string, Read>>

export type ReadName = keyof typeof reads

const isReadName = (name: string): name is ReadName => Object.hasOwn(reads, name)

export const readNames: readonly ReadName[] = Object.keys(reads).filter(isReadName)

/** Gifts of 100 requests of the mix. */
export const GIFT_SHARE = 20

/** The path of a read; only rooms depend on `room`. */
export const pathOf = (name: ReadName, room: number): string =>
  `/api/v1${reads[name].route.replace(':uid', `r${room}`)}`
