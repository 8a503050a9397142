import type { Verb } from '../../ledger/rules/verb.ts'
import { approvalSettingsKey, isSameLimits, limitsIn } from './approval-settings.ts'
import type { ApprovalLimits } from './covered-verb.ts'

export interface SetApprovals {
  /** Null turns approvals off. */
  readonly limits: ApprovalLimits | null
}

/** Sets whether approvals are on, and the limits. Limits that mean the same write no event; never refused. */
export const setApprovals: Verb<SetApprovals, null> = {
  refusals: [],
  reads: () => [approvalSettingsKey],
  decide: (state, { limits }) =>
    isSameLimits(limitsIn(state), limits) ? [] : [{ type: 'approvals-set', data: { limits }, movements: [] }],
  result: () => null,
}

/** As `setApprovals`, on a ledger that has nothing but its first event; any other one is left as it is. */
export const openApprovals: Verb<SetApprovals, null> = {
  ...setApprovals,
  decide: (state, input, context) => (context.position === 2 ? setApprovals.decide(state, input, context) : []),
}
