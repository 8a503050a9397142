import { createHmac, hash } from 'node:crypto'

/** SHA-256 of UTF-8 text or bytes, as lower-case hex. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data)

/** SHA-256 of bytes, as bytes. */
export const sha256Bytes = (data: Uint8Array): Buffer => hash('sha256', data, 'buffer')

/** HMAC-SHA256 as bytes. */
export const hmac = (key: Uint8Array | string, text: string): Buffer => createHmac('sha256', key).update(text).digest()
