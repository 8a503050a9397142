import { createHmac, createSecretKey, hash } from 'node:crypto'

/** SHA-256 of UTF-8 text or bytes, as lower-case hex. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data)

/** SHA-256 of bytes, as bytes. */
export const sha256Bytes = (data: Uint8Array): Buffer => hash('sha256', data, 'buffer')

/** Bytes of a block of SHA-256, of a key as draws have it, and UTF-16 units of text that have room in `inner`. */
const BLOCK_BYTES = 64
const KEY_BYTES = 32
const MAX_SHORT_TEXT = 256
const inner = Buffer.alloc(BLOCK_BYTES + 3 * MAX_SHORT_TEXT)
const outer = Buffer.alloc(BLOCK_BYTES + 32)

/**
 * HMAC-SHA256 as bytes. Every draw has a key of its own, of 32 bytes, and for such a key Node's HMAC takes 5 µs, most of
 * them to get ready; RFC 2104's two hashes at once take 2.
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
