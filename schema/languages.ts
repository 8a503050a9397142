import { type Static, Type } from '@sinclair/typebox'
import { named } from './named.ts'

/** The languages of the app. */
export const Language = named(
  'LanguageCode',
  Type.Union([Type.Literal('en'), Type.Literal('ar')], { title: 'en or ar' }),
)
export type Language = Static<typeof Language>

/** A text in every language of the app. */
export const LocalizedText = named('LocalizedText', Type.Object({ en: Type.String(), ar: Type.String() }))
export type LocalizedText = Static<typeof LocalizedText>

/** A name that serves every language, or one for each. */
export const LocalizedName = Type.Union([Type.String(), LocalizedText])
export type LocalizedName = Static<typeof LocalizedName>
