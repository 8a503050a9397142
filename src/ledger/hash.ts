import { hash } from 'node:crypto'

/** SHA-256 of UTF-8 text or bytes, as lower-case hex. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data)

/** SHA-256 of bytes, as bytes. */
export const sha256Bytes = (data: Uint8Array): Buffer => hash('sha256', data, 'buffer')

const BLOCK = 64

/**
 * HMAC-SHA256 as bytes (RFC 2104). In hashes of one call each, as Node's own takes ten times as long for a short text,
 * most of it for making an object of the key.
 */
export function hmac(key: Uint8Array | string, text: string): Buffer {
  const given = typeof key === 'string' ? Buffer.from(key) : key
  const secret = given.length > BLOCK ? sha256Bytes(given) : given
  const inner = Buffer.alloc(BLOCK + Buffer.byteLength(text), 0x36)
  const outer = Buffer.alloc(BLOCK + 32, 0x5c)
  for (const [i, byte] of secret.entries()) {
    inner[i] = byte ^ 0x36
    outer[i] = byte ^ 0x5c
  }
  inner.write(text, BLOCK)
  sha256Bytes(inner).copy(outer, BLOCK)
  return sha256Bytes(outer)
}
