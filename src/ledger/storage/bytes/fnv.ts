// FNV-1a of 32 bits: for hash tables; does not resist collisions made on purpose.

export const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193

/** Adds a byte or character to a hash, which starts as `OFFSET_BASIS`. */
export const fnv1a = (hash: number, letter: number): number => Math.imul(hash ^ letter, PRIME)

/** Mixes the upper bits into the lower ones, for a hash whose lower bits pick a slot. */
export const foldUpperBits = (hash: number): number => hash ^ (hash >>> 15)
