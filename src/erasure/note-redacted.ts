import type { EventData } from '../../schema/events.ts'
import type { Verb } from '../ledger/rules/verb.ts'

export type NoteRedacted = EventData<'replies-blanked'>

/** Says what remembered replies are from now on allowed to be, before they are written anew. Never refused. */
export const noteRedacted: Verb<NoteRedacted, null> = {
  reads: () => [],
  decide: (_state, data) => [{ type: 'replies-blanked', data, movements: [] }],
  result: () => null,
}
