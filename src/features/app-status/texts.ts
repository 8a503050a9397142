import type { InBoth } from '../../../schema/events.ts'

/** A text in some of the languages. */
export interface PartialTexts {
  readonly en?: string | undefined
  readonly ar?: string | undefined
}

/** Omitted languages keep their texts. */
export const mergeTexts = (before: InBoth, { en = before.en, ar = before.ar }: PartialTexts = {}): InBoth => ({
  en,
  ar,
})
