import type { EventData } from '../../schema/events.ts'
import type { Verb } from '../ledger/rules/verb.ts'

export type NoteRedacted = EventData<'replies-blanked'>

/** Records the new hashes of stored replies before they are redacted, so that audits accept them. Never refused. */
export const noteRedacted: Verb<NoteRedacted, null> = {
  reads: () => [],
  decide: (_state, data) => [{ type: 'replies-blanked', data, movements: [] }],
  result: () => null,
}
