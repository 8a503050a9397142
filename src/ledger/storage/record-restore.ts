import type { EventData } from '../../../schema/events.ts'
import { incarnationIn, incarnationKey, lostCommits, lostCommitsKey } from '../rules/incarnation.ts'
import type { Verb } from '../rules/verb.ts'

/**
 * Begins an incarnation, because commits were lost before this command, and with it lifts the ban on writing that
 * `recordLostCommits` imposed. Does nothing where it has begun already, so that a command whose outcome is unknown can be
 * repeated. Never refused.
 */
export const recordRestore: Verb<EventData<'ledger-restored'>, null> = {
  refusals: [],
  reads: () => [incarnationKey, lostCommitsKey],
  decide: (state, { incarnation, reason, last_known }) =>
    incarnation === incarnationIn(state)
      ? []
      : [{ type: 'ledger-restored', data: { incarnation, reason, last_known }, movements: [] }],
  sideWrites: (state, { incarnation }) => {
    if (state.get(lostCommits, '1')?.incarnation === incarnation) state.set(lostCommits, '1', undefined)
  },
  result: () => null,
}
