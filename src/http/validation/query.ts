/** Parses a query string. An empty value and `null` are absent; a repeated one becomes a list, which no schema accepts. */
export function parseQuery(text: string): Record<string, string | string[]> {
  // Without a prototype, so that no name is special.
  const query: Record<string, string | string[]> = Object.create(null)
  if (text === '') return query
  for (const [name, value] of new URLSearchParams(text)) {
    if (value === '' || value === 'null') continue
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (typeof before === 'string') query[name] = [before, value]
    else before.push(value)
  }
  return query
}
