/** Something was asked for that cannot be answered; the message is for people. */
export class InvalidQuery extends Error {
  override readonly name = 'Unanswerable'
  /** Which of the questions it is about, as the doors call it. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** What a long reading takes with it. */
export interface QueryContext {
  /** Ends it between two steps, with the signal's reason thrown. */
  readonly signal: AbortSignal
  /** So many more events will be looked at. */
  readonly onPlanned: (events: number) => void
  /** So many more have been looked at. */
  readonly onScanned: (events: number) => void
}
