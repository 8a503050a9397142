// What both algorithms compute with, by WebCrypto.

/** @typedef {Uint8Array<ArrayBuffer>} Bytes */

/** Browsers have it only on pages that came over TLS or from the machine itself. */
export const hasCrypto = () => globalThis.crypto?.subtle !== undefined

/** @param {string} text */
export const bytesOf = (text) => new TextEncoder().encode(text)

/** @param {Bytes} bytes */
export const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** @param {string} hex */
export const bytesOfHex = (hex) =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))

/** @param {Bytes} bytes */
export const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

/**
 * @param {Bytes} bytes
 * @param {number} times
 */
export async function hashTimes(bytes, times) {
  let hash = bytes
  for (let i = 0; i < times; i += 1) hash = await sha256(hash)
  return hash
}

const WORD_RANGE = 1n << 64n

/**
 * A number from 0 to `size`-1, with the 64-bit words it was derived from; the last one was used, those before it were
 * rejected.
 * @param {Bytes} secret
 * @param {string} label
 * @param {bigint} size from 1
 * @returns {Promise<{ r: bigint, words: string[] }>}
 */
export async function uniform(secret, label, size) {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const limit = (WORD_RANGE / size) * size
  /** @type {string[]} */
  const words = []
  for (let j = 0; ; j += 1) {
    const mac = new DataView(await crypto.subtle.sign('HMAC', key, bytesOf(`${label}|${j}`)))
    for (let at = 0; at < mac.byteLength; at += 8) {
      const word = mac.getBigUint64(at)
      words.push(word.toString(16).padStart(16, '0'))
      if (word < limit) return { r: word % size, words }
    }
  }
}
