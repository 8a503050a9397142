import { createHmac, createSecretKey, hash } from 'node:crypto'

/** SHA-256 of UTF-8 text or bytes, as lower-case hex. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data)

/** SHA-256 of bytes, as bytes. */
export const sha256Bytes = (data: Uint8Array): Buffer => hash('sha256', data, 'buffer')

/** HMAC-SHA256 as bytes. Bytes as they are make Node take 15 µs to read the key; made a key object first, 4 µs. */
export const hmac = (key: Uint8Array | string, text: string): Buffer =>
  createHmac('sha256', typeof key === 'string' ? key : createSecretKey(key))
    .update(text)
    .digest()
