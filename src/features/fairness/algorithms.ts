import { LRUCache } from 'lru-cache'
import { hmac, sha256, sha256Bytes } from '../../ledger/rules/hash.ts'

/** Links per chain: the number of sends drawn from it before the next chain starts. */
export const CHAIN_LENGTH = 256

export const chainId = (userId: number, number: number): string => `${userId}-${number}`

/** Whether an id has the form of this service's chain ids; the chain need not exist. */
export const isChainId = (chain: string): boolean => /^[1-9]\d*-[1-9]\d*$/.test(chain)

/** A chain has its id once in each incarnation of the ledger. */
interface ChainName {
  readonly incarnation: string
  readonly chain: string
}

/** s(0) of a chain, from which all its links are derived. */
export const chainStart = (fairnessKey: string, { incarnation, chain }: ChainName): Buffer =>
  hmac(fairnessKey, `lg1|${incarnation}|${chain}`)

/** s(i + steps) from s(i): hashes repeatedly with SHA-256. */
export function hashTimes(from: Uint8Array, steps: number): Uint8Array {
  let link = from
  for (let i = 0; i < steps; i += 1) link = sha256Bytes(link)
  return link
}

/** The draw of order `i` of send `k`, from the link K(k). */
export const drawOrder = (
  link: Uint8Array,
  chain: string,
  clientSeed: string,
  k: number,
  i: number,
  totalWeight: number,
): UniformDraw => uniform(link, `lg1|${chain}|${clientSeed}|${k}|${i}`, totalWeight)

/** Derives the links of chains. Deterministic: the same fairness key gives the same links. */
export interface LuckyChains {
  /** SHA-256 of the fairness key, which identifies the key on the ledger. */
  readonly keyHash: string
  /** T = s(N), published before the chain is used. */
  commitment(chain: ChainName): string
  /** K(k) = s(N-k). */
  link(chain: ChainName, k: number): Uint8Array
}

const CHECKPOINT_INTERVAL = 16
const CHECKPOINTS_PER_CHAIN = CHAIN_LENGTH / CHECKPOINT_INTERVAL
const LINK_BYTES = 32
const MAX_CACHED_CHAINS = 20_000

/**
 * The chains of a fairness key. Every 16th link of a chain in use is cached, so that a draw costs 8 hashes on average
 * instead of 128; the least recently used chain is evicted. The links of a chain share one buffer of 512 bytes, because
 * sixteen small ones take 4 KB.
 */
export function luckyChains(fairnessKey: string): LuckyChains {
  const cache = new LRUCache<string, Uint8Array>({ max: MAX_CACHED_CHAINS })
  const checkpointsOf = (name: ChainName): Uint8Array => {
    const key = `${name.incarnation}|${name.chain}`
    let links = cache.get(key)
    if (links === undefined) {
      links = new Uint8Array(CHECKPOINTS_PER_CHAIN * LINK_BYTES)
      let link: Uint8Array = chainStart(fairnessKey, name)
      for (let i = 0; i < CHECKPOINTS_PER_CHAIN; i += 1) {
        if (i > 0) link = hashTimes(link, CHECKPOINT_INTERVAL)
        links.set(link, i * LINK_BYTES)
      }
      cache.set(key, links)
    }
    return links
  }
  const linkAt = (chain: ChainName, i: number): Uint8Array => {
    const nearest = Math.min(Math.floor(i / CHECKPOINT_INTERVAL), CHECKPOINTS_PER_CHAIN - 1)
    const checkpoint = checkpointsOf(chain).slice(nearest * LINK_BYTES, (nearest + 1) * LINK_BYTES)
    return hashTimes(checkpoint, i - nearest * CHECKPOINT_INTERVAL)
  }
  return {
    keyHash: sha256(fairnessKey),
    commitment: (chain) => Buffer.from(linkAt(chain, CHAIN_LENGTH)).toString('hex'),
    link: (chain, k) => {
      if (k < 1 || k > CHAIN_LENGTH) throw new RangeError(`chain ${chain.chain} has no send ${k}`)
      return linkAt(chain, CHAIN_LENGTH - k)
    },
  }
}

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

/** A drawn number, with the words it was derived from. */
interface UniformDraw {
  readonly r: number
  /** The 64-bit words that were read, as hex; the last one was used, those before it were rejected. */
  readonly words: readonly string[]
}

const WORDS_PER_MAC = 4
const WORD_RANGE = 1n << 64n

/**
 * A uniformly distributed number from 0 to `size`-1. HMAC-SHA256(key, `<label>|j`) for j = 0, 1, … gives
 * four big-endian 64-bit words each; a word at or above the largest multiple of `size` is rejected, so that the
 * remainder has no bias.
 */
export function uniform(key: Uint8Array, label: string, size: number): UniformDraw {
  const words: string[] = []
  for (let j = 0; ; j += 1) {
    const mac = hmac(key, `${label}|${j}`)
    for (let i = 0; i < WORDS_PER_MAC; i += 1) {
      const word = mac.readBigUInt64BE(i * 8)
      words.push(word.toString(16).padStart(16, '0'))
      const r = reduceWord(word, size)
      if (r !== null) return { r, words }
    }
  }
}

/** The number that a word gives, or null when it is rejected. */
export function reduceWord(word: bigint, size: number): number | null {
  const range = BigInt(size)
  return word < (WORD_RANGE / range) * range ? Number(word % range) : null
}
