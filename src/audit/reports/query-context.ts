/** A query that cannot be answered; the message is for people. */
export class InvalidQuery extends Error {
  override readonly name = 'InvalidQuery'
  /** The parameter or flag at fault. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
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
