import type { ClientType } from '../../../../schema/events.ts'
import type { Client } from '../access-policy.ts'
import { type Language, preferredLanguage } from '../languages.ts'

/** The part of a request that identifies a client. */
export interface Request {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly query: unknown
}

const TYPE = 'client-type'
const VERSION = 'client-version'

/** `Client-Type` as sent, in a header or in the query; null when it is missing. */
export const clientTypeIn = ({ headers, query }: Request): string | null =>
  headerValue(headers[TYPE]) ?? queryValue(query, TYPE)

/** `Client-Version` as sent, in a header or in the query; null when it is missing. */
export const clientVersionIn = ({ headers, query }: Request): string | null =>
  headerValue(headers[VERSION]) ??
  // An unencoded plus, as in 1.4.0+88, is decoded as a space in a query.
  queryValue(query, VERSION)?.replace(' ', '+') ??
  null

/** The preferred supported language; `lang` wins over `Accept-Language`. English by default. */
export function languageIn({ headers, query }: Request): Language {
  const lang = headerValue(headers['lang']) ?? queryValue(query, 'lang')
  return preferredLanguage(
    lang ?? headerValue(headers['accept-language']) ?? queryValue(query, 'accept-language') ?? '',
  )
}

/** The client of a type and version; null when both are missing. */
export function toClient(type: string | null, version: string | null): Client | null {
  return type === null && version === null ? null : { type: parseClientType(type), version }
}

const types: ReadonlyMap<string, ClientType> = new Map([
  ['android', 'android'],
  ['ios', 'ios'],
  ['flutter', 'flutter'],
])

/** Null for an unknown type. */
export const parseClientType = (name: string | null): ClientType | null =>
  name === null ? null : (types.get(name) ?? types.get(name.trim().toLowerCase()) ?? null)

/** An empty header counts as missing. */
const headerValue = (value: string | string[] | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null

/** A query value by name, in any spelling such as `Client-Type` or `client_type`. Repeated values are joined, so unknown. */
function queryValue(query: unknown, wanted: string): string | null {
  if (typeof query !== 'object' || query === null) return null
  for (const name in query) {
    if (name.toLowerCase().replaceAll('_', '-') !== wanted) continue
    const value: unknown = Reflect.get(query, name)
    return Array.isArray(value) ? value.join(',') : String(value)
  }
  return null
}
