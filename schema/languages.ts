import { type Static, Type } from '@sinclair/typebox'
import { named } from './named.ts'

const ARABIC_FORM = Symbol('form in Arabic')

/**
 * Goes next to the title or description that says what a value must be: the same in Arabic, as it follows
 * `يجب أن تكون القيمة`. The documents do not show it.
 */
export const arabicForm = (form: string): object => ({ [ARABIC_FORM]: form })

/** The Arabic next to the title or description of a schema, if there is one. */
export const arabicFormOf = (schema: object): string | undefined =>
  ARABIC_FORM in schema && typeof schema[ARABIC_FORM] === 'string' ? schema[ARABIC_FORM] : undefined

/** The languages of the app. */
export const Language = named(
  'LanguageCode',
  Type.Union([Type.Literal('en'), Type.Literal('ar')], { title: 'en or ar', ...arabicForm('en أو ar') }),
)
export type Language = Static<typeof Language>

/** A text in every language of the app. */
export const LocalizedText = named('LocalizedText', Type.Object({ en: Type.String(), ar: Type.String() }))
export type LocalizedText = Static<typeof LocalizedText>

/** A name that serves every language, or one for each. */
export const LocalizedName = Type.Union([Type.String(), LocalizedText])
export type LocalizedName = Static<typeof LocalizedName>
