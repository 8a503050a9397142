import { type DocumentSchemas, isJson, type Json } from './document-schemas.ts'

/** What a successful response holds, in words; null when its schema does not say it. */
export function describeSuccess(schema: unknown, schemas: DocumentSchemas): string | null {
  if (!isJson(schema)) return null
  const whole = descriptionOf(schema, schemas)
  if (whole !== null) return whole
  const fields = schema['properties']
  if (!isJson(fields)) return null
  const { data, meta } = fields
  if (data === undefined) return meta === undefined ? null : 'Done; meta.message says it for people'
  if (!isJson(data)) return null
  if (data['type'] !== 'array') return descriptionOf(data, schemas)
  const { items } = data
  if (!isJson(items)) return null
  const [name, item] = [schemas.nameIn(items), descriptionOf(items, schemas)]
  if (name === null || item === null) return null
  const each = `${name}, each ${item.charAt(0).toLowerCase()}${item.slice(1)}`
  const isPage = isJson(meta) && schemas.nameIn(meta) === 'PageMeta'
  return isPage ? `A page of ${each}. meta.next_cursor leads to the next page` : `A list of ${each}`
}

/** The description of a schema, or of the one that it refers to; of a schema or null, both. */
function descriptionOf(schema: Json, schemas: DocumentSchemas): string | null {
  const { anyOf, description } = schema
  if (typeof description === 'string') return description
  if (Array.isArray(anyOf)) {
    const branches = anyOf.filter(isJson)
    const [only, ...others] = branches.filter((branch) => branch['type'] !== 'null')
    const one = only === undefined || others.length > 0 ? null : descriptionOf(only, schemas)
    return one === null || branches.length < 2 ? one : `${one}; null when there is none`
  }
  const name = schemas.nameIn(schema)
  const named = name === null ? undefined : schemas.components[name]
  return isJson(named) ? descriptionOf(named, schemas) : null
}
