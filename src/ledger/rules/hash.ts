import { createHmac, createSecretKey, hash } from 'node:crypto'

/** SHA-256 of UTF-8 text or bytes, as lower-case hex. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data)

/** The first 16 bytes of SHA-256, as 32 hex digits: what PostgreSQL stores as a uuid, in half the space. */
export const shortHash = (text: string): string => sha256(text).slice(0, 32)

/** SHA-256 of bytes, as bytes. */
export const sha256Bytes = (data: Uint8Array): Buffer => hash('sha256', data, 'buffer')

/** A block of SHA-256, the keys that draws use, and the longest text, in UTF-16 units, that fits into `inner`. */
const BLOCK_BYTES = 64
const KEY_BYTES = 32
const MAX_SHORT_TEXT = 256
const inner = Buffer.alloc(BLOCK_BYTES + 3 * MAX_SHORT_TEXT)
const outer = Buffer.alloc(BLOCK_BYTES + 32)

/**
 * HMAC-SHA256 as bytes. Every draw has its own key of 32 bytes; for a new key Node's HMAC takes 5 µs, mostly to set up,
 * and the two hashes of RFC 2104 take 2.
 */
export function hmac(key: Uint8Array | string, text: string): Buffer {
  if (typeof key === 'string') return createHmac('sha256', key).update(text).digest()
  if (key.length !== KEY_BYTES || text.length > MAX_SHORT_TEXT) {
    return createHmac('sha256', createSecretKey(key)).update(text).digest()
  }
  inner.fill(0x36, KEY_BYTES, BLOCK_BYTES)
  outer.fill(0x5c, KEY_BYTES, BLOCK_BYTES)
  for (let i = 0; i < KEY_BYTES; i += 1) {
    const byte = key[i] ?? 0
    inner[i] = byte ^ 0x36
    outer[i] = byte ^ 0x5c
  }
  const end = BLOCK_BYTES + inner.write(text, BLOCK_BYTES)
  outer.write(hash('sha256', inner.subarray(0, end), 'binary'), BLOCK_BYTES, 'binary')
  return hash('sha256', outer, 'buffer')
}

// FNV-1a of 32 bits: for hash tables; does not resist collisions made on purpose.

export const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193

/** Adds a byte or character to a hash, which starts as `OFFSET_BASIS`. */
export const fnv1a = (hash: number, letter: number): number => Math.imul(hash ^ letter, PRIME)
