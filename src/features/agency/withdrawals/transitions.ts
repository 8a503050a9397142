import type { WithdrawalStatus } from '../../../../schema/agency-events.ts'

/** The role of a caller in a request. A former target is no longer an agent or manager. */
export type Party = 'operator' | 'target' | 'former_target' | 'requester'

const withdrawalStatuses: readonly WithdrawalStatus[] = ['pending', 'approved', 'transferred', 'rejected']

/** Who may change which status to which. Any other change is refused. */
const transitions: Readonly<Record<WithdrawalStatus, Readonly<Partial<Record<WithdrawalStatus, readonly Party[]>>>>> = {
  pending: {
    approved: ['operator', 'target'],
    rejected: ['operator', 'target', 'former_target', 'requester'],
  },
  approved: {
    transferred: ['operator', 'target'],
    rejected: ['operator'],
  },
  rejected: {},
  transferred: {},
}

/** What a party may bring a request with this status to. */
export const allowedTransitions = (from: WithdrawalStatus, party: Party): readonly WithdrawalStatus[] =>
  withdrawalStatuses.filter((to) => transitions[from][to]?.includes(party) === true)

/** The refusal of a status change; undefined when it is allowed. `party` is null for users outside the request. */
export function transitionRefusal(
  from: WithdrawalStatus,
  to: WithdrawalStatus,
  party: Party | null,
): 'not_your_withdrawal' | 'invalid_transition' | 'not_your_decision' | undefined {
  if (party === null) return 'not_your_withdrawal'
  const who = transitions[from][to]
  if (who === undefined) return 'invalid_transition'
  return who.includes(party) ? undefined : 'not_your_decision'
}
