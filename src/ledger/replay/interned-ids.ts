import { fnv1a, foldUpperBits, OFFSET_BASIS } from '../storage/bytes/fnv.ts'

const INITIAL_SLOTS = 2 ** 16
const AVERAGE_NAME_BYTES = 32

/**
 * Numbers names given as bytes, from 0 on: an open-addressing hash table. Called for every movement of a replay, so it
 * decodes no strings and touches little memory.
 */
export class InternedIds {
  /** An id plus one in the first free slot from the name's hash on; 0 in free slots. */
  #slots = new Int32Array(INITIAL_SLOTS)
  #hashes = new Int32Array(INITIAL_SLOTS)
  /** All names back to back, and where each ends. */
  #names = Buffer.alloc(INITIAL_SLOTS * AVERAGE_NAME_BYTES)
  #ends = new Int32Array(INITIAL_SLOTS + 1)
  #count = 0

  /** The id of a name; a new name gets the next one. */
  intern(bytes: Buffer, start: number, length: number): number {
    // Signed, as it is in `#hashes`.
    let hash = OFFSET_BASIS | 0
    for (let i = start; i < start + length; i += 1) hash = fnv1a(hash, bytes[i] ?? 0)
    const mask = this.#slots.length - 1
    for (let slot = foldUpperBits(hash) & mask; ; slot = (slot + 1) & mask) {
      const place = (this.#slots[slot] ?? 0) - 1
      if (place < 0) return this.#insert(slot, hash, bytes.subarray(start, start + length))
      if (this.#hashes[place] === hash && this.#equals(place, bytes, start, length)) return place
    }
  }

  get count(): number {
    return this.#count
  }

  name(place: number): string {
    return this.#names.toString('utf8', this.#ends[place], this.#ends[place + 1])
  }

  #equals(place: number, bytes: Buffer, start: number, length: number): boolean {
    const names = this.#names
    const from = this.#ends[place] ?? 0
    if ((this.#ends[place + 1] ?? 0) - from !== length) return false
    for (let i = 0; i < length; i += 1) if (names[from + i] !== bytes[start + i]) return false
    return true
  }

  #insert(slot: number, hash: number, name: Buffer): number {
    const place = this.#count
    this.#count += 1
    const from = this.#ends[place] ?? 0
    if (from + name.length > this.#names.length) {
      const names = Buffer.alloc(2 * (from + name.length))
      this.#names.copy(names, 0, 0, from)
      this.#names = names
    }
    name.copy(this.#names, from)
    this.#ends[place + 1] = from + name.length
    this.#hashes[place] = hash
    this.#slots[slot] = place + 1
    if (2 * this.#count >= this.#slots.length) this.#grow()
    return place
  }

  /** Doubles the slots, so that half of them are always free. */
  #grow(): void {
    const size = 2 * this.#slots.length
    const mask = size - 1
    const ends = new Int32Array(size + 1)
    ends.set(this.#ends)
    const hashes = new Int32Array(size)
    hashes.set(this.#hashes)
    const slots = new Int32Array(size)
    for (let place = 0; place < this.#count; place += 1) {
      const hash = hashes[place] ?? 0
      let slot = foldUpperBits(hash) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = place + 1
    }
    this.#slots = slots
    this.#hashes = hashes
    this.#ends = ends
  }
}
