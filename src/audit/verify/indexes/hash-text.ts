const scratch = new DataView(new ArrayBuffer(4096))
const bytesOf = new Uint8Array(scratch.buffer)
const INITIAL = 0x9e3779b9 + 3923095
const WORDS_BYTES = 12

const rotate = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits))

/**
 * PostgreSQL's `hashtext` of an ASCII prefix and bytes of a UTF-8 text, as a server with little-endian words computes it:
 * Bob Jenkins' lookup3. Undefined for a text longer than any that is indexed.
 */
export function hashText(prefix: string, bytes: Uint8Array, start: number, length: number): number | undefined {
  const size = prefix.length + length
  if (size + WORDS_BYTES > bytesOf.length) return undefined
  for (let i = 0; i < prefix.length; i += 1) bytesOf[i] = prefix.charCodeAt(i)
  for (let i = 0; i < length; i += 1) bytesOf[prefix.length + i] = bytes[start + i] ?? 0
  // The last words are filled up with zeros.
  for (let i = size; i < size + WORDS_BYTES; i += 1) bytesOf[i] = 0
  let a = (INITIAL + size) | 0
  let b = a
  let c = a
  let at = 0
  for (; size - at >= WORDS_BYTES; at += WORDS_BYTES) {
    a = (a + scratch.getInt32(at, true)) | 0
    b = (b + scratch.getInt32(at + 4, true)) | 0
    c = (c + scratch.getInt32(at + 8, true)) | 0
    a = ((a - c) | 0) ^ rotate(c, 4)
    c = (c + b) | 0
    b = ((b - a) | 0) ^ rotate(a, 6)
    a = (a + c) | 0
    c = ((c - b) | 0) ^ rotate(b, 8)
    b = (b + a) | 0
    a = ((a - c) | 0) ^ rotate(c, 16)
    c = (c + b) | 0
    b = ((b - a) | 0) ^ rotate(a, 19)
    a = (a + c) | 0
    c = ((c - b) | 0) ^ rotate(b, 4)
    b = (b + a) | 0
  }
  a = (a + scratch.getInt32(at, true)) | 0
  b = (b + scratch.getInt32(at + 4, true)) | 0
  // The lowest byte is kept for the length.
  c = (c + (scratch.getInt32(at + 8, true) << 8)) | 0
  c = ((c ^ b) - rotate(b, 14)) | 0
  a = ((a ^ c) - rotate(c, 11)) | 0
  b = ((b ^ a) - rotate(a, 25)) | 0
  c = ((c ^ b) - rotate(b, 16)) | 0
  a = ((a ^ c) - rotate(c, 4)) | 0
  b = ((b ^ a) - rotate(a, 14)) | 0
  return ((c ^ b) - rotate(b, 24)) | 0
}
