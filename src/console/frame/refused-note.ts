import { HttpError } from '../../http/errors/http-error.ts'

/** A note that was refused, or came too late, for its form to be shown again. */
export interface RefusedNote {
  /** The decision that it was written for. */
  readonly decision: string
  readonly note: string
  readonly problem: string
}

/** Throws errors that are no refusals, for the page of errors. */
export function refusedNote(error: unknown, decision: string, note: string): RefusedNote {
  if (!(error instanceof HttpError) || error.status !== 422) throw error
  const faults = Object.values(error.errors ?? {}).flatMap((texts) => texts.map(({ en }) => en))
  return { decision, note, problem: [error.text.en, ...faults].join(' ') }
}
