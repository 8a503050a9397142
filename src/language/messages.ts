import type { LocalizedText } from '../../schema/languages.ts'
import { formatNumber } from './numbers.ts'

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

/** What several parts say about a field of a request. */
export const fieldMessages = {
  required: { en: 'This field is required.', ar: 'هذا الحقل مطلوب.' },
  taken: { en: 'This value has already been taken.', ar: 'هذه القيمة مستخدمة من قبل.' },
  unknown_user: { en: 'There is no user with this id.', ar: 'لا يوجد مستخدم بهذا المعرّف.' },
  unknown_country: { en: 'There is no country with this id.', ar: 'لا توجد دولة بهذا المعرّف.' },
  no_user: (id: number) => ({ en: `There is no user ${id}.`, ar: `لا يوجد مستخدم بالمعرّف ${id}.` }),
  listed_twice: { en: 'This value appears more than once in the list.', ar: 'تتكرر هذه القيمة في القائمة.' },
  at_most: (limit: number) => ({
    en: `The value must be at most ${limit}.`,
    ar: `يجب ألا تزيد القيمة على ${formatNumber('ar', limit)}.`,
  }),
  holds_at_most: (limit: number) => ({
    en: `The list must hold at most ${limit}.`,
    ar: `يجب ألا يزيد عدد العناصر على ${formatNumber('ar', limit)}.`,
  }),
} satisfies Messages
