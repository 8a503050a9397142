import type { Language } from '../../schema/languages.ts'
import { preferredLanguage } from './preferred-language.ts'

/** The part of a request in which a client says of what kind it is, and which language it wants. */
export interface RequestHints {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly query: unknown
}

/** The language of a request's response: `lang`, in a header or in the query, else `Accept-Language`, else English. */
export function languageOf({ headers, query }: RequestHints): Language {
  const list = headerValue(headers['lang']) ?? queryValue(query, 'lang') ?? headerValue(headers['accept-language'])
  return preferredLanguage(list ?? queryValue(query, 'accept-language') ?? '')
}

/** An empty header counts as missing. */
export const headerValue = (value: string | string[] | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null

/** A query value by name, in any spelling such as `Client-Type` or `client_type`. Repeated values are joined, so unknown. */
export function queryValue(query: unknown, wanted: string): string | null {
  if (typeof query !== 'object' || query === null) return null
  for (const name in query) {
    if (name.toLowerCase().replaceAll('_', '-') !== wanted) continue
    const value: unknown = Reflect.get(query, name)
    return Array.isArray(value) ? value.join(',') : String(value)
  }
  return null
}
