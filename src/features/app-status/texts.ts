import type { InBoth } from '../../../schema/events.ts'

/** Words of which some may be left out. */
export interface PartialTexts {
  readonly en?: string | undefined
  readonly ar?: string | undefined
}

/** What is left out keeps its value. */
export const mergeTexts = (before: InBoth, { en = before.en, ar = before.ar }: PartialTexts = {}): InBoth => ({
  en,
  ar,
})
