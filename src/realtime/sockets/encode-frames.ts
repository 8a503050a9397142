/** The first byte of an unfragmented text frame. */
const TEXT = 0x81
const MAX_SHORT_LENGTH = 125
const MAX_MEDIUM_LENGTH = 0xffff

/**
 * Messages as unmasked WebSocket frames (RFC 6455, 5.2) in one buffer: encoded once for all receivers, while `ws` would
 * encode them for each.
 */
export function encodeFrames(texts: readonly string[]): Buffer {
  const lengths = texts.map((text) => Buffer.byteLength(text))
  let size = 0
  for (const length of lengths) size += headerSize(length) + length
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const [i, text] of texts.entries()) {
    at = writeHeader(bytes, at, lengths[i] ?? 0)
    at += bytes.write(text, at)
  }
  return bytes
}

const headerSize = (length: number): number => (length <= MAX_SHORT_LENGTH ? 2 : length <= MAX_MEDIUM_LENGTH ? 4 : 10)

function writeHeader(bytes: Buffer, start: number, length: number): number {
  let at = bytes.writeUInt8(TEXT, start)
  if (length <= MAX_SHORT_LENGTH) return bytes.writeUInt8(length, at)
  if (length <= MAX_MEDIUM_LENGTH) {
    at = bytes.writeUInt8(126, at)
    return bytes.writeUInt16BE(length, at)
  }
  at = bytes.writeUInt8(127, at)
  return bytes.writeBigUInt64BE(BigInt(length), at)
}
