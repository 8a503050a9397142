declare global {
  interface JSON {
    /** As the engine has it: a reviver is told how a number was written. */
    parse(
      text: string,
      reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown
  }
}

/** JSON whose numbers are printed again digit for digit, also where a double would have rounded them. */
export const parseExact = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value,
  )
