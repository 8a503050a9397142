import type { EventData } from '../../../schema/events.ts'
import type { Verb } from '../rules/verb.ts'

/**
 * Writes the first event, which names the ledger's incarnation and commits to the fairness key by its SHA-256. Does nothing
 * on a ledger that has one.
 */
export const genesis: Verb<EventData<'ledger-opened'>, null> = {
  refusals: [],
  reads: () => [],
  decide: (_state, { fairness_key, incarnation }, { position }) =>
    position === 1 ? [{ type: 'ledger-opened', data: { fairness_key, incarnation }, movements: [] }] : [],
  result: () => null,
}
