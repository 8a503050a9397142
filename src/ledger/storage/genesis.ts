import type { Verb } from '../rules/verb.ts'

/** The ledger's first event names the fairness key by its SHA-256. Does nothing on a ledger that is open. */
export const genesis: Verb<{ readonly fairness_key: string }, null> = {
  reads: () => [],
  decide: (_state, { fairness_key }, { position }) =>
    position === 1 ? [{ type: 'ledger-opened', data: { fairness_key }, movements: [] }] : [],
  result: () => null,
}
