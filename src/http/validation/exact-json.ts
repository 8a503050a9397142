declare global {
  interface JSON {
    /** As V8 implements it: the reviver gets the number's source text. */
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
  }
}

/** Parses JSON so that its numbers are printed again digit for digit, even those that a double would round. */
export const parseExact = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value,
  )
