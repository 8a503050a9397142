import type { WithdrawalStatus } from '../../../../schema/agency-events.ts'

/** What somebody is to a request. A former target is an agent or manager who is none any more. */
export type Party = 'operator' | 'target' | 'former_target' | 'requester'

/** Who may bring a request from one status to another. Whatever is not in here does not happen. */
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

/** Why somebody (null: a stranger to the request) may not bring it from one status to another, if so. */
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
