import type { LocalizedText } from '../../schema/languages.ts'

/**
 * The sentences of a slice by code, each in every language; those with placeholders are functions. A list of messages is
 * written `{ … } satisfies Messages`, so that a sentence that lacks a language does not compile.
 */
export type Messages = Readonly<Record<string, LocalizedText | ((...placeholders: never[]) => LocalizedText)>>

/** Messages for people about what they sent, by field. */
export type FieldErrors = Readonly<Record<string, readonly LocalizedText[]>>

/**
 * A name or another foreign text within an Arabic sentence: isolated (U+2068, U+2069), so that a name in Latin letters
 * does not reorder the words around it.
 */
export const isolated = (text: string): string => `\u2068${text}\u2069`
