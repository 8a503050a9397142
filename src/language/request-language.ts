import type { Language } from '../../schema/languages.ts'

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

const supportedLanguages: readonly Language[] = ['en', 'ar']

/** Longer lists are cut: no real client sends one. */
const MAX_LIST_LENGTH = 500

/**
 * The supported language with the highest quality in a list such as `fr, ar-EG;q=0.8, en;q=0.7`; the first one on a tie.
 * `*` stands for the languages that are not listed. English when none is supported.
 */
export function preferredLanguage(list: string): Language {
  const remembered = known.get(list)
  if (remembered !== undefined) return remembered
  const language = choose(list)
  if (list.length <= MAX_REMEMBERED_LENGTH) {
    if (known.size >= MAX_REMEMBERED) known.clear()
    known.set(list, language)
  }
  return language
}

/** Clients of an app send few different lists, with every request. */
const known = new Map<string, Language>([['', 'en']])
const MAX_REMEMBERED = 500
const MAX_REMEMBERED_LENGTH = 100

function choose(list: string): Language {
  let best: { readonly language: Language; readonly quality: number } = { language: 'en', quality: 0 }
  const preferences = list.slice(0, MAX_LIST_LENGTH).split(',').map(parsePreference)
  const named = new Set(preferences.map(({ name }) => name))
  for (const { name, quality } of preferences) {
    const language = supportedLanguages.find((one) => (name === '*' ? !named.has(one) : one === name))
    if (language !== undefined && quality > best.quality) best = { language, quality }
  }
  return best.language
}

/** Parses one preference: `ar-EG;q=0.8` and `ar_EG;q=0.8` are Arabic. An invalid quality counts as 0. */
function parsePreference(text: string): { readonly name: string; readonly quality: number } {
  const [range = '', ...params] = text.split(';').map((part) => part.trim().toLowerCase())
  const [name = ''] = range.split(/[-_]/)
  const quality = params.find((param) => param.startsWith('q='))?.slice(2)
  if (quality === undefined) return { name, quality: 1 }
  return { name, quality: /^(0(\.\d*)?|1(\.0*)?)$/.test(quality) ? Number(quality) : 0 }
}
