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

/**
 * Unicode's full case folding, so that `ß` is `ss`; letter by letter, so that a sigma is the same wherever it stands. A
 * dotless `ı` is no `i`.
 */
export const foldCase = (text: string): string =>
  text.replaceAll(/[^ı]/gu, (letter) => letter.toLowerCase().toUpperCase().toLowerCase())

/**
 * A text as it is searched: letters that people take for the same are the same. As `foldCase`, in NFC and without the dot
 * above that folding leaves after `i`, so that `İ` is `i`.
 */
export const folded = (text: string): string =>
  foldCase(text.normalize('NFC')).replaceAll('i\u0307', 'i').normalize('NFC')

/** The columns by which a person or a room is searched. */
export const foldedNames = ({ uid, name }: { readonly uid: string; readonly name: string }) => ({
  uid_folded: folded(uid),
  name_folded: folded(name),
})
