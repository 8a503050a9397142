// FNV-1a of 32 bits: a hash for looking up, and not against anybody who wants two to be the same.

export const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193

/** Goes on from a hash, at first `BASIS`, with a letter or byte. */
export const fnv1a = (hash: number, letter: number): number => Math.imul(hash ^ letter, PRIME)

/** Of a hash whose lower bits are to name a place: the upper ones are mixed into them. */
export const foldUpperBits = (hash: number): number => hash ^ (hash >>> 15)
