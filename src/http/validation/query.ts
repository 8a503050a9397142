/** A query string's values: an empty one is an absent one, a repeated one is a list, which no schema of ours takes. */
export function parseQuery(text: string): Record<string, string | string[]> {
  // Without a prototype: no name means anything but itself.
  const query: Record<string, string | string[]> = Object.create(null)
  if (text === '') return query
  for (const [name, value] of new URLSearchParams(text)) {
    if (value === '') continue
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (typeof before === 'string') query[name] = [before, value]
    else before.push(value)
  }
  return query
}
