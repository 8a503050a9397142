/** Longer ones are no number of a draw, and slow to read. */
const MAX_DIGITS = 40

/** A whole number that this browser has rounded already. */
export class InexactNumber extends Error {}

/**
 * Parses JSON with whole numbers as bigint, so that none is rounded.
 * @param {string} text
 * @returns {unknown}
 */
export const parseExact = (text) =>
  JSON.parse(
    text,
    /**
     * @param {string} _key
     * @param {unknown} value
     * @param {{ readonly source?: string }[]} context that of the number's text, which older browsers do not give
     */
    (_key, value, ...context) => {
      if (typeof value !== 'number') return value
      const source = context[0]?.source
      if (source !== undefined) return /^-?\d+$/.test(source) && source.length <= MAX_DIGITS ? BigInt(source) : value
      if (Number.isSafeInteger(value)) return BigInt(value)
      if (Number.isInteger(value)) throw new InexactNumber()
      return value
    },
  )
