import { LRUCache } from 'lru-cache'
import { hmac, sha256, sha256Bytes } from '../../ledger/rules/hash.ts'
import { type UniformDraw, uniform } from './uniform.ts'

/** Links per chain: the number of sends drawn from it before the next chain starts. */
export const CHAIN_LENGTH = 256

export const chainId = (userId: number, number: number): string => `${userId}-${number}`

/** Whether an id has the form of this service's chain ids; the chain need not exist. */
export const isChainId = (chain: string): boolean => /^[1-9]\d*-[1-9]\d*$/.test(chain)

/** A chain has its id once in each incarnation of the ledger. */
export interface ChainName {
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
