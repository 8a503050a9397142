import type { Language, LocalizedName } from '../../schema/languages.ts'

/** A name as rows have it: `name_ar` is null where one name serves every language. */
export interface StoredName {
  readonly name: string
  readonly name_ar: string | null
}

export const storedName = (name: LocalizedName): StoredName =>
  typeof name === 'string' ? { name, name_ar: null } : { name: name.en, name_ar: name.ar }

/** The name for readers of a language. Rooms and everyone are shown `name` itself, the English one. */
export const nameIn = ({ name, name_ar }: StoredName, language: Language): string =>
  language === 'ar' ? (name_ar ?? name) : name

/** The name as it was given. */
export const givenName = ({ name, name_ar }: StoredName): LocalizedName =>
  name_ar === null ? name : { en: name, ar: name_ar }
