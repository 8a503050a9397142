import { refuse, type Verb } from '../../ledger/rules/verb.ts'

/** What work outside the ledger came to, such as starting a verification; null when it was refused. */
export interface Work<Outcome> {
  readonly outcome: Outcome | null
}

/**
 * Answers a request whose work is done outside the ledger, so that the answer is remembered with its idempotency key like
 * that of any command. No events. `code` is the refusal of work that was not done.
 */
export const answerWork = <Outcome, Code extends string>(
  code: Code,
): Verb<Work<Outcome>, Outcome, readonly [Code]> => ({
  refusals: [code],
  reads: () => [],
  decide: (_state, { outcome }) => (outcome === null ? refuse(code) : []),
  result(_state, { outcome }) {
    if (outcome === null) throw new Error('refused work has no outcome')
    return outcome
  },
})
