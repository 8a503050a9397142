import { hmac, sha256 } from '../../ledger/rules/hash.ts'
import { type UniformDraw, uniform } from './uniform.ts'

/** An entry of a spin: one player's stake and seed. */
export interface SpinEntry {
  /** The position of the join; on other ledgers any name. */
  readonly entry: number | string
  readonly user_id: number | string
  /** Coins. */
  readonly stake: number
  /** Empty when the player gave none. */
  readonly client_seed: string
}

/** Derives the seeds of spins. Deterministic: the same fairness key gives the same seeds. */
export interface SpinSeeds {
  /** SHA-256 of the fairness key, which identifies the key on the ledger. */
  readonly keyHash: string
  /** S of a game; secret until the game is finished. */
  seed(game: { readonly incarnation: string; readonly uid: string }): Uint8Array
}

export const spinSeeds = (fairnessKey: string): SpinSeeds => ({
  keyHash: sha256(fairnessKey),
  seed: ({ incarnation, uid }) => hmac(fairnessKey, `rr1|${incarnation}|${uid}`),
})

/** C, published when a game is created: SHA-256 of `rr1|commit|<game uid>|` and the bytes of the seed. */
export const spinCommitment = (gameUid: string, seed: Uint8Array): string =>
  sha256(Buffer.concat([Buffer.from(`rr1|commit|${gameUid}|`), seed]))

/** All entries as text, one line each, in the order of joining. */
export const entryLines = (entries: readonly SpinEntry[]): string =>
  entries
    .map(({ entry, user_id, stake, client_seed }, i) => `${i}|${entry}|${user_id}|${stake}|${client_seed}\n`)
    .join('')

/** E, SHA-256 of those lines. */
export const entriesHash = (entries: readonly SpinEntry[]): string => sha256(entryLines(entries))

/** The label of the draw. */
export const spinLabel = (gameUid: string, entriesHash: string): string => `rr1|${gameUid}|${entriesHash}|-`

/** Draws the index of the winning entry, from 0; determined by the seed and all entries. */
export const spin = (seed: Uint8Array, gameUid: string, entries: readonly SpinEntry[]): UniformDraw =>
  uniform(seed, spinLabel(gameUid, entriesHash(entries)), entries.length)
