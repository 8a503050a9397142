/** A JSON document with every reference into itself replaced by what it refers to. It must not refer in circles. */
export function dereference(document: unknown, value: unknown = document): unknown {
  if (Array.isArray(value)) return value.map((item) => dereference(document, item))
  if (typeof value !== 'object' || value === null) return value
  const $ref: unknown = Reflect.get(value, '$ref')
  const beside = Object.entries(value).filter(([name]) => name !== '$ref')
  const fields = beside.map(([name, inner]) => [name, dereference(document, inner)] as const)
  if (typeof $ref !== 'string') return Object.fromEntries(fields)
  const target = $ref
    .split('/')
    .slice(1)
    .reduce(
      (node: unknown, name) => (typeof node === 'object' && node !== null ? Reflect.get(node, name) : undefined),
      document,
    )
  if (target === undefined) throw new Error(`${$ref} refers to nothing`)
  return Object.assign(Object(dereference(document, target)), Object.fromEntries(fields))
}
