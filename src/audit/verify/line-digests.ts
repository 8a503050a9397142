import { createHash, hash, randomBytes } from 'node:crypto'

const BUCKETS = 4096
/** 32 bits each, of a SHA-256. */
const LANES = 8

/**
 * Compares two sets of lines that come in no order, in the same memory for any number of them: each bucket has the sum of
 * the hashes of one set's lines, less those of the other's. A secret salt keeps anybody from choosing lines for a sum.
 */
export class LineDigests {
  readonly #salt = randomBytes(12).toString('base64')
  readonly #sums = new Uint32Array(BUCKETS * LANES)

  add(line: string): void {
    const digest = this.#hash(line)
    const first = bucketOf(digest) * LANES
    for (let lane = 0; lane < LANES; lane += 1) this.#sums[first + lane] = this.#sum(first, lane) + laneOf(digest, lane)
  }

  subtract(line: string): void {
    const digest = this.#hash(line)
    const first = bucketOf(digest) * LANES
    for (let lane = 0; lane < LANES; lane += 1) this.#sums[first + lane] = this.#sum(first, lane) - laneOf(digest, lane)
  }

  /** Whether both sets have the same lines. */
  get areEqual(): boolean {
    return this.#sums.every((sum) => sum === 0)
  }

  /** Whether a line may be in one of the sets only. */
  mayDiffer(line: string): boolean {
    const first = bucketOf(this.#hash(line)) * LANES
    return this.#sums.subarray(first, first + LANES).some((sum) => sum !== 0)
  }

  #sum(first: number, lane: number): number {
    return this.#sums[first + lane] ?? 0
  }

  /** As a text of bytes, which costs a quarter of a buffer. */
  #hash(line: string): string {
    return hash('sha256', this.#salt + line, 'binary')
  }
}

const bucketOf = (digest: string): number => (digest.charCodeAt(0) | (digest.charCodeAt(1) << 8)) % BUCKETS

const laneOf = (digest: string, lane: number): number =>
  digest.charCodeAt(4 * lane) |
  (digest.charCodeAt(4 * lane + 1) << 8) |
  (digest.charCodeAt(4 * lane + 2) << 16) |
  (digest.charCodeAt(4 * lane + 3) << 24)

export interface LinesDigest {
  readonly rows: number
  /** SHA-256 of all lines, each with a line break at its end, as hex. */
  readonly digest: string
}

/** Makes the digest of lines in their order, one by one. */
export class LinesHash {
  readonly #hash = createHash('sha256')
  #rows = 0

  add(line: string): void {
    this.#rows += 1
    this.#hash.update(line)
    this.#hash.update('\n')
  }

  finish(): LinesDigest {
    return { rows: this.#rows, digest: this.#hash.digest('hex') }
  }
}
