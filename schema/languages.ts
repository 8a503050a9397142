import { type Static, Type } from '@sinclair/typebox'

/** The languages of the app. */
export const Language = Type.Union([Type.Literal('en'), Type.Literal('ar')], { description: 'en or ar' })
export type Language = Static<typeof Language>

/** A text in every language of the app. */
export const LocalizedText = Type.Object({ en: Type.String(), ar: Type.String() })
export type LocalizedText = Static<typeof LocalizedText>
