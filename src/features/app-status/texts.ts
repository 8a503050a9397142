import type { LocalizedText } from '../../../schema/languages.ts'

/** A text in some of the languages. */
export interface PartialTexts {
  readonly en?: string | undefined
  readonly ar?: string | undefined
}

/** Omitted languages keep their texts. */
export const mergeTexts = (
  before: LocalizedText,
  { en = before.en, ar = before.ar }: PartialTexts = {},
): LocalizedText => ({
  en,
  ar,
})
