export type QueryValues = Readonly<Record<string, string | number | null | undefined>>

/** The address of a page with these parameters; absent ones are left out, so that equal pages have equal addresses. */
export function addressWith(path: string, values: QueryValues): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '') query.append(name, String(value))
  }
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}
