import { type DocumentSchemas, isJson, type Json } from './document-schemas.ts'

/** What a successful response holds, in words; null when its schema does not say it. */
export function describeSuccess(schema: unknown, schemas: DocumentSchemas): string | null {
  if (!isJson(schema)) return null
  const whole = wordsOf(schema, schemas)
  if (whole !== null) return whole
  const fields = schema['properties']
  if (!isJson(fields)) return null
  const { data, meta } = fields
  if (data === undefined) return meta === undefined ? null : 'Done; meta.message says it for people'
  if (!isJson(data)) return null
  if (data['type'] !== 'array') return wordsOf(data, schemas)
  const item = isJson(data['items']) ? schemas.nameIn(data['items']) : null
  if (item === null) return null
  const isPage = isJson(meta) && schemas.nameIn(meta) === 'PageMeta'
  return isPage ? `A page of ${item}; meta.next_cursor leads to the next page` : `A list of ${item}`
}

/** The description of a named schema, else its name; of one or null, both. */
function wordsOf(schema: Json, schemas: DocumentSchemas): string | null {
  const { anyOf } = schema
  if (Array.isArray(anyOf)) {
    const names = anyOf.filter(isJson).map((branch) => (branch['type'] === 'null' ? 'null' : schemas.nameIn(branch)))
    return names.includes(null) ? null : names.join(' or ')
  }
  const name = schemas.nameIn(schema)
  if (name === null) return null
  const named = schemas.components[name]
  const description = isJson(named) ? named['description'] : undefined
  return typeof description === 'string' ? description : name
}
