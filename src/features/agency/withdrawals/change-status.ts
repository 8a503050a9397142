import type { WithdrawalParty, WithdrawalStatus } from '../../../../schema/agency-events.ts'
import { balanceKeys, balances, type Movement, transfer, transferError } from '../../../ledger/rules/account.ts'
import { type Key, keyOf, type State } from '../../../ledger/rules/projection.ts'
import { type ExpectedVersion, isExpected } from '../../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { inboxKey } from '../../../notifications/inbox.ts'
import { type SealedRecord, storeRecord } from '../../../vault/record.ts'
import { countries } from '../../users/country.ts'
import { userProfiles, users } from '../../users/user.ts'
import {
  AGENT_DOLLARS_CLEARING,
  DOLLARS_CLEARING,
  settlementAccount,
  walletAccount,
  withdrawalAccount,
} from '../dollars.ts'
import {
  type NamedWithdrawal,
  namesIn,
  nameWithdrawal,
  type Withdrawal,
  withdrawals,
  withdrawalVersion,
} from './withdrawal.ts'

interface ChangeStatus {
  readonly withdrawal_id: number
  /** Null for an operator. */
  readonly caller_id: number | null
  readonly to: WithdrawalStatus
  /** The digest of the note. */
  readonly note: string | null
  /** The version of the request that the caller has seen. */
  readonly expected?: ExpectedVersion | undefined
}

export const statusRefusals = [
  'not_found',
  'not_your_withdrawal',
  'precondition_failed',
  'invalid_transition',
  'not_your_decision',
  'insufficient_balance',
  'balance_limit',
] as const

/**
 * Changes the status of a request and moves its dollars accordingly. `note` is sealed for the requester, so a request that
 * did not exist when the command was prepared (`isKnown`) is not found, even if it was made in the meantime. Refusals, in
 * this order: `not_found`, `not_your_withdrawal`, `precondition_failed` (it was changed since its caller saw it),
 * `invalid_transition`, `not_your_decision`, `balance_limit`.
 */
export const changeStatus = (
  note: SealedRecord | null,
  isKnown = true,
): Verb<ChangeStatus, NamedWithdrawal, typeof statusRefusals> => ({
  refusals: statusRefusals,
  reads: ({ withdrawal_id }) => [
    keyOf(withdrawals, withdrawal_id),
    ...[withdrawalAccount(withdrawal_id), AGENT_DOLLARS_CLEARING, DOLLARS_CLEARING].map((name) =>
      keyOf(balances, name),
    ),
  ],

  dependentReads(state, { withdrawal_id }) {
    const withdrawal = state.get(withdrawals, String(withdrawal_id))
    return withdrawal === undefined ? [] : dependentKeys(withdrawal)
  },

  decide(state, input) {
    const withdrawal = state.get(withdrawals, String(input.withdrawal_id))
    if (!isKnown || withdrawal === undefined) return refuse('not_found')
    const { withdrawal_id, user_id, target_id, wallet, amount, status: from } = withdrawal
    const party = partyOf(state, withdrawal, input.caller_id)
    if (party !== null && !isExpected(input.expected, withdrawal, withdrawalVersion)) {
      return refuse('precondition_failed')
    }
    const refused = transitionRefusal(from, input.to, party)
    if (refused !== undefined) return refuse(refused)
    if (note !== null && note.user_id !== user_id) throw new Error(`the note belongs to user ${note.user_id}`)
    const movements = statusMovements(withdrawal, input.to)
    // An approval spends the amount on hold for it, which cannot fail.
    const error = from === 'pending' ? undefined : transferError(state, movements)
    if (error !== undefined) return refuse(error)
    const by = partyInEvent(party)
    const change = { withdrawal_id, user_id, target_id, wallet, amount, from, to: input.to, by }
    return [{ type: 'withdrawal-status-changed', data: { ...change, note: note?.record_id ?? null }, movements }]
  },

  sideWrites(state) {
    if (note !== null) storeRecord(state, note)
  },

  result(state, { withdrawal_id }) {
    const withdrawal = state.get(withdrawals, String(withdrawal_id))
    if (withdrawal === undefined) throw new Error(`there is no withdrawal ${withdrawal_id}`)
    return nameWithdrawal(withdrawal, namesIn(state))
  },
})

/** The keys that depend on the request. */
const dependentKeys = ({ user_id, target_id, beneficiary_id, country_id, wallet }: Withdrawal): readonly Key[] => [
  ...[user_id, target_id, ...(beneficiary_id === null ? [] : [beneficiary_id])].map((id) => keyOf(userProfiles, id)),
  keyOf(countries, country_id),
  ...[user_id, target_id].map(inboxKey),
  keyOf(users, target_id),
  ...balanceKeys(walletAccount(user_id, wallet)),
  keyOf(balances, settlementAccount(target_id)),
]

function partyOf(state: State, { type, user_id, target_id }: Withdrawal, callerId: number | null): Party | null {
  if (callerId === null) return 'operator'
  if (callerId === user_id) return 'requester'
  if (callerId !== target_id) return null
  const target = state.get(users, String(target_id))
  const isStillTarget = type === 'cash' ? target?.business_manager : target?.charging_agent
  return isStillTarget === true ? 'target' : 'former_target'
}

const partyInEvent = (party: Party | null): WithdrawalParty =>
  party === 'requester' ? party : party === 'target' || party === 'former_target' ? 'target' : 'staff'

/** Moves the dollars into the request's own account, on to the settlement account, or back. */
export function statusMovements(
  { withdrawal_id, user_id, target_id, wallet, amount, status }: Withdrawal,
  to: WithdrawalStatus,
): readonly Movement[] {
  const own = withdrawalAccount(withdrawal_id)
  const from = walletAccount(user_id, wallet)
  const paidIn: readonly Movement[] =
    wallet === 'dollars'
      ? [transfer(from, own, amount)]
      : [transfer(from, AGENT_DOLLARS_CLEARING, amount), transfer(DOLLARS_CLEARING, own, amount)]
  if (status === 'pending') return to === 'approved' ? paidIn : []
  if (to === 'transferred') return [transfer(own, settlementAccount(target_id), amount)]
  return paidIn.toReversed().map(({ debit, credit }) => ({ debit: credit, credit: debit, amount }))
}

/** The role of a caller in a request. A former target is no longer an agent or manager. */
type Party = 'operator' | 'target' | 'former_target' | 'requester'

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
function transitionRefusal(
  from: WithdrawalStatus,
  to: WithdrawalStatus,
  party: Party | null,
): 'not_your_withdrawal' | 'invalid_transition' | 'not_your_decision' | undefined {
  if (party === null) return 'not_your_withdrawal'
  const who = transitions[from][to]
  if (who === undefined) return 'invalid_transition'
  return who.includes(party) ? undefined : 'not_your_decision'
}
