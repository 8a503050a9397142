import type { ClientType } from '../../../../schema/events.ts'
import type { Client } from '../access-policy.ts'
import { type Language, preferredLanguage } from '../languages.ts'

/** The part of a request in which a client shows what it is. */
export interface Request {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly query: unknown
}

const TYPE = 'client-type'
const VERSION = 'client-version'

/** `Client-Type` as sent, in a header or in the query; null when it is missing. */
export const clientTypeIn = ({ headers, query }: Request): string | null =>
  headerValue(headers[TYPE]) ?? queryValue(query, TYPE)

/** `Client-Version`, likewise. */
export const clientVersionIn = ({ headers, query }: Request): string | null =>
  headerValue(headers[VERSION]) ??
  // Of a plus that was not encoded, as in 1.4.0+88, a query makes a blank.
  queryValue(query, VERSION)?.replace(' ', '+') ??
  null

/** `lang` wins over `Accept-Language`; English when neither names one of ours. */
export function languageIn({ headers, query }: Request): Language {
  const lang = headerValue(headers['lang']) ?? queryValue(query, 'lang')
  return preferredLanguage(
    lang ?? headerValue(headers['accept-language']) ?? queryValue(query, 'accept-language') ?? '',
  )
}

/** What a type and a version say of a client; null when neither was shown. */
export function toClient(type: string | null, version: string | null): Client | null {
  return type === null && version === null ? null : { type: parseClientType(type), version }
}

const types: ReadonlyMap<string, ClientType> = new Map([
  ['android', 'android'],
  ['ios', 'ios'],
  ['flutter', 'flutter'],
])

/** Null for a type that is none of ours. */
export const parseClientType = (name: string | null): ClientType | null =>
  name === null ? null : (types.get(name) ?? types.get(name.trim().toLowerCase()) ?? null)

/** An empty header is an absent one. */
const headerValue = (value: string | string[] | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null

/** The value of a query's name, however that is written: `Client-Type`, `client_type`. Given twice it is no value of ours. */
function queryValue(query: unknown, wanted: string): string | null {
  if (typeof query !== 'object' || query === null) return null
  for (const name in query) {
    if (name.toLowerCase().replaceAll('_', '-') !== wanted) continue
    const value: unknown = Reflect.get(query, name)
    return Array.isArray(value) ? value.join(',') : String(value)
  }
  return null
}
