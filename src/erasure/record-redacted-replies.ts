import type { EventData } from '../../schema/events.ts'
import type { Verb } from '../ledger/rules/verb.ts'

export type RecordRedactedReplies = EventData<'replies-blanked'>

/** Records the new hashes of stored replies before they are redacted, so that audits accept them. Never refused. */
export const recordRedactedReplies: Verb<RecordRedactedReplies, null> = {
  refusals: [],
  reads: () => [],
  decide: (_state, data) => [{ type: 'replies-blanked', data, movements: [] }],
  result: () => null,
}
