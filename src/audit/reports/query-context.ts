import type { LocalizedText } from '../../../schema/languages.ts'
/** A query that cannot be answered; the message and the text are for people, the message in English. */
export class InvalidQuery extends Error {
  override readonly name = 'InvalidQuery'
  /** The parameter or flag at fault. */
  readonly field: string
  readonly text: LocalizedText

  constructor(field: string, text: LocalizedText) {
    super(text.en)
    this.field = field
    this.text = text
  }
}

/** Progress and cancellation of a long report. */
export interface QueryContext {
  /** When aborted, the report throws its reason before the next page. */
  readonly signal: AbortSignal
  /** So many more events will be read. */
  readonly onPlanned: (events: number) => void
  /** So many more events have been read. */
  readonly onScanned: (events: number) => void
}
