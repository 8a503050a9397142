/** The first byte of a frame that is a whole message of text. */
const TEXT = 0x81
const SHORT = 125
const MEDIUM = 0xffff

/**
 * Messages as they go over the wire to clients, one frame each (RFC 6455, 5.2), in one piece: made once for all who get
 * them.
 */
export function framed(texts: readonly string[]): Buffer {
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

const headerSize = (length: number): number => (length <= SHORT ? 2 : length <= MEDIUM ? 4 : 10)

function writeHeader(bytes: Buffer, start: number, length: number): number {
  let at = bytes.writeUInt8(TEXT, start)
  if (length <= SHORT) return bytes.writeUInt8(length, at)
  if (length <= MEDIUM) {
    at = bytes.writeUInt8(SHORT + 1, at)
    return bytes.writeUInt16BE(length, at)
  }
  at = bytes.writeUInt8(SHORT + 2, at)
  return bytes.writeBigUInt64BE(BigInt(length), at)
}
