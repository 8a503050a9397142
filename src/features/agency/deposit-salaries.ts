import { type Account, account, balances, transferError, transfers } from '../../ledger/rules/account.ts'
import type { Evolver, LedgerEvent } from '../../ledger/rules/event.ts'
import { integer, keyOf, projection, type RowOf, type State, text } from '../../ledger/rules/projection.ts'
import type { Verb } from '../../ledger/rules/verb.ts'
import type { Proposable } from '../proposals/covered-verb.ts'
import { isErased, userProfiles, users } from '../users/user.ts'

/** Paid salaries. */
export const salaries = projection('salary_deposits', {
  period: text(),
  user_id: integer(),
  /** Cents. */
  dollars: integer(),
  agent_dollars: integer(),
  /** Points taken from the user's target balance. */
  target: integer(),
  /** Position of the event that paid it. */
  deposit_id: integer(),
})

/** The salary of a user for a period. */
export type Deposit = Omit<RowOf<typeof salaries>, 'period' | 'deposit_id'>

/** Unambiguous, because a period contains no colon. */
const salaryId = (period: string, userId: number): string => `${period}:${userId}`

export const evolveSalaries: Evolver = {
  'salary-deposited': (state, { data, position }) => {
    const id = salaryId(data.period, data.user_id)
    if (state.get(salaries, id) !== undefined)
      throw new Error(`user ${data.user_id} was paid for ${data.period} before`)
    const { approval: _approval, ...deposit } = data
    state.set(salaries, id, { ...deposit, deposit_id: position })
  },
}

/** Deposits of one command: those of a whole file, where the file is one proposal. */
export const MAX_FILE_DEPOSITS = 5_000

export interface DepositSalaries {
  /** 1 to 32 of `[0-9A-Za-z_-]`. */
  readonly period: string
  readonly deposits: readonly Deposit[]
  /** Whether to report without paying. */
  readonly dry_run: boolean
}

export interface PaidDeposit {
  readonly deposit: Deposit
  /** Position of its event; null when it would only be paid. */
  readonly id: number | null
}

/** Why a user is not paid. */
export type DepositRefusal =
  | 'unknown_user'
  | 'user_forgotten'
  | 'paid_differently'
  | 'nothing_to_pay'
  | 'insufficient_balance'
  | 'balance_limit'

export interface SalaryReport {
  readonly period: string
  readonly paid: readonly PaidDeposit[]
  readonly already_paid: readonly PaidDeposit[]
  readonly refused: readonly { readonly deposit: Deposit; readonly code: DepositRefusal }[]
}

/**
 * Pays each user once for a period. Users who cannot be paid, or were paid before, do not affect the others. Never refused
 * as a whole: the report lists the refused deposits.
 */
export const depositSalaries: Verb<DepositSalaries, SalaryReport> = {
  refusals: [],
  reads: ({ period, deposits }) => [
    ...SYSTEM_ACCOUNTS.map((name) => keyOf(balances, name)),
    ...deposits.flatMap(({ user_id }) => [
      keyOf(users, user_id),
      keyOf(userProfiles, user_id),
      keyOf(salaries, salaryId(period, user_id)),
      ...CREDITED_CURRENCIES.map((currency) => keyOf(balances, account('user', user_id, currency))),
      keyOf(balances, account('user', user_id, 'target')),
    ]),
  ],

  decide(state, input) {
    if (input.dry_run) return []
    return assessDeposits(state, input).flatMap(({ deposit, verdict }) =>
      verdict === 'payable' ? [depositedEvent(input.period, deposit)] : [],
    )
  },

  result(state, input, events) {
    const { period } = input
    // Deposits of these events are already in the state, so they are assessed as paid.
    const newPositions = new Map(
      events.flatMap((event) => (event.type === 'salary-deposited' ? [[event.data.user_id, event.position]] : [])),
    )
    const paid: PaidDeposit[] = []
    const already_paid: PaidDeposit[] = []
    const refused: SalaryReport['refused'][number][] = []
    for (const { deposit, verdict } of assessDeposits(state, input)) {
      if (verdict === 'payable') paid.push({ deposit, id: null })
      else if (verdict !== 'paid') refused.push({ deposit, code: verdict })
      else {
        const id = newPositions.get(deposit.user_id)
        // The first of identical rows was paid.
        if (id !== undefined) newPositions.delete(deposit.user_id)
        ;(id === undefined ? already_paid : paid).push({
          deposit,
          id: state.get(salaries, salaryId(period, deposit.user_id))?.deposit_id ?? null,
        })
      }
    }
    return { period, paid, already_paid, refused }
  },
}

/** The file with the rows that would be paid now, and the others with why they would not. */
export function payableRows(state: State, input: DepositSalaries): Proposable<DepositSalaries> {
  const rows = assessDeposits(state, input)
  return {
    input: { ...input, deposits: rows.flatMap(({ deposit, verdict }) => (verdict === 'payable' ? [deposit] : [])) },
    notPaid: rows.flatMap(({ deposit: { user_id }, verdict }) =>
      verdict === 'payable' ? [] : [{ user_id, code: verdict === 'paid' ? 'already_paid' : verdict }],
    ),
    rowCount: rows.length,
  }
}

const CREDITED_CURRENCIES = ['dollars', 'agent_dollars'] as const
const issuanceAccount = (currency: (typeof CREDITED_CURRENCIES)[number]): Account =>
  account('issuance', 'salary', currency)
/** Receives the points that salaries were paid for. */
const REDEEMED_POINTS = account('house', 'salary', 'target')
const SYSTEM_ACCOUNTS: readonly Account[] = [...CREDITED_CURRENCIES.map(issuanceAccount), REDEEMED_POINTS]

const depositedEvent = (period: string, deposit: Deposit): LedgerEvent<'salary-deposited'> => ({
  type: 'salary-deposited',
  data: { period, ...deposit },
  movements: movementsOf(deposit),
})

const movementsOf = ({ user_id, dollars, agent_dollars, target }: Deposit) =>
  transfers(
    [issuanceAccount('dollars'), account('user', user_id, 'dollars'), dollars],
    [issuanceAccount('agent_dollars'), account('user', user_id, 'agent_dollars'), agent_dollars],
    [account('user', user_id, 'target'), REDEEMED_POINTS, target],
  )

interface AssessedDeposit {
  readonly deposit: Deposit
  readonly verdict: 'payable' | 'paid' | DepositRefusal
}

/** Assesses each row after those before it. */
function assessDeposits(state: State, { period, deposits }: DepositSalaries): AssessedDeposit[] {
  const payable = new Map<number, Deposit>()
  return deposits.map((deposit) => {
    const before = payable.get(deposit.user_id) ?? state.get(salaries, salaryId(period, deposit.user_id))
    if (before !== undefined) return { deposit, verdict: isSameDeposit(before, deposit) ? 'paid' : 'paid_differently' }
    const verdict = depositRefusal(state, deposit) ?? 'payable'
    if (verdict === 'payable') payable.set(deposit.user_id, deposit)
    return { deposit, verdict }
  })
}

function depositRefusal(state: State, deposit: Deposit): DepositRefusal | undefined {
  if (state.get(users, String(deposit.user_id)) === undefined) return 'unknown_user'
  const profile = state.get(userProfiles, String(deposit.user_id))
  if (profile !== undefined && isErased(profile)) return 'user_forgotten'
  if (deposit.dollars === 0 && deposit.agent_dollars === 0) return 'nothing_to_pay'
  return transferError(state, movementsOf(deposit))
}

const isSameDeposit = (a: Deposit, b: Deposit): boolean =>
  a.dollars === b.dollars && a.agent_dollars === b.agent_dollars && a.target === b.target
