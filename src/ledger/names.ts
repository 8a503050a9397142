/** Names of accounts, actors and types that were read from bytes, each in a place that its bytes lead to. */
const places: (string | undefined)[] = Array.from({ length: 2 ** 18 })
const PLACES = places.length - 1

// FNV-1a
const BASIS = 0x811c9dc5
const PRIME = 0x01000193

/**
 * The text of a name: always the same one as long as no other needs its place, so that it is quickly found in rows.
 * Letter by letter: for the few that a name has, that is quicker than to make a text of it first.
 */
export function nameIn(bytes: Buffer, start: number, length: number): string {
  const end = start + length
  let hash = BASIS
  let letters = 0
  for (let i = start; i < end; i += 1) {
    const byte = bytes[i] ?? 0
    letters |= byte
    hash = Math.imul(hash ^ byte, PRIME)
  }
  // Not all letters are one byte.
  if (letters > 0x7f) return bytes.toString('utf8', start, end)
  const place = (hash ^ (hash >>> 15)) & PLACES
  const name = places[place]
  if (name !== undefined && name.length === length && isAt(name, bytes, start)) return name
  return (places[place] = bytes.toString('latin1', start, end))
}

function isAt(name: string, bytes: Buffer, start: number): boolean {
  for (let i = 0; i < name.length; i += 1) if (name.charCodeAt(i) !== bytes[start + i]) return false
  return true
}
