import { hmac, sha256 } from '../../ledger/rules/hash.ts'
import { type UniformDraw, uniform } from './uniform.ts'

/** One who plays, as the spin sees it. */
export interface SpinEntry {
  /** The join's position on the ledger; on other ledgers than ours a name. */
  readonly entry: number | string
  readonly user_id: number | string
  /** Coins. */
  readonly stake: number
  /** Empty when the player gave none. */
  readonly client_seed: string
}

/** Where the seeds of spins come from. The same key gives the same seeds: nothing here is chance. */
export interface SpinSeeds {
  /** SHA-256 of the fairness key, by which the ledger names it. */
  readonly keyHash: string
  /** S of a game: a secret until the game is finished. */
  seed(gameUid: string): Uint8Array
}

export const spinSeeds = (fairnessKey: string): SpinSeeds => ({
  keyHash: sha256(fairnessKey),
  seed: (gameUid) => hmac(fairnessKey, `rr1|${gameUid}`),
})

/** C, published when a game is created: SHA-256 of `rr1|commit|<game uid>|` and the bytes of the seed. */
export const spinCommitment = (gameUid: string, seed: Uint8Array): string =>
  sha256(Buffer.concat([Buffer.from(`rr1|commit|${gameUid}|`), seed]))

/** The lines that stand for all who play, in the order of joining. */
export const entryLines = (entries: readonly SpinEntry[]): string =>
  entries
    .map(({ entry, user_id, stake, client_seed }, i) => `${i}|${entry}|${user_id}|${stake}|${client_seed}\n`)
    .join('')

/** E, SHA-256 of those lines. */
export const entriesHash = (entries: readonly SpinEntry[]): string => sha256(entryLines(entries))

/** What the number is drawn under. */
export const spinLabel = (gameUid: string, entriesHash: string): string => `rr1|${gameUid}|${entriesHash}|-`

/** Which of the entries wins, from 0: it follows from the seed and from all that the players brought. */
export const spin = (seed: Uint8Array, gameUid: string, entries: readonly SpinEntry[]): UniformDraw =>
  uniform(seed, spinLabel(gameUid, entriesHash(entries)), entries.length)
