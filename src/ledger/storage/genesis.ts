import type { Verb } from '../rules/verb.ts'

/** Writes the first event, which commits to the fairness key by its SHA-256. Does nothing on a ledger that has one. */
export const genesis: Verb<{ readonly fairness_key: string }, null> = {
  refusals: [],
  reads: () => [],
  decide: (_state, { fairness_key }, { position }) =>
    position === 1 ? [{ type: 'ledger-opened', data: { fairness_key }, movements: [] }] : [],
  result: () => null,
}
