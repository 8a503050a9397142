import type { EventData } from '../../../schema/events.ts'
import { incarnationIn, incarnationKey } from '../rules/incarnation.ts'
import type { Verb } from '../rules/verb.ts'

/**
 * Begins an incarnation, because commits were lost before this command. Does nothing where it has begun already, so that
 * a command whose outcome is unknown can be repeated. Never refused.
 */
export const recordRestore: Verb<EventData<'ledger-restored'>, null> = {
  refusals: [],
  reads: () => [incarnationKey],
  decide: (state, { incarnation, reason, last_known }) =>
    incarnation === incarnationIn(state)
      ? []
      : [{ type: 'ledger-restored', data: { incarnation, reason, last_known }, movements: [] }],
  result: () => null,
}
