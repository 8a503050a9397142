import { test } from 'tap'
import type { WithdrawalStatus } from '../../../schema/agency-events.ts'
import { depositSalaries, evolveSalaries, type SalaryReport } from '../../../src/features/agency/deposit-salaries.ts'
import { evolveInstantTransfers, makeInstantTransfer } from '../../../src/features/agency/instant-transfer.ts'
import { salaryReport } from '../../../src/features/agency/presenters.ts'
import { changeStatus } from '../../../src/features/agency/withdrawals/change-status.ts'
import {
  type RequestWithdrawal,
  requestWithdrawal,
} from '../../../src/features/agency/withdrawals/request-withdrawal.ts'
import { evolveWithdrawals, withdrawals } from '../../../src/features/agency/withdrawals/withdrawal.ts'
import { countries } from '../../../src/features/users/country.ts'
import { evolveUsers } from '../../../src/features/users/user.ts'
import { debit } from '../../../src/features/wallet/balance-move.ts'
import { balances, holds } from '../../../src/ledger/rules/account.ts'
import { credited, userDefined } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW, type GivenWhen, givenWhen } from '../../harness/ledger/given-when.ts'

const MAX_BALANCE = Number.MAX_SAFE_INTEGER

/** User 1 with 90.00 of each dollar; agent 4, manager 7; user 5 is an agent who receives nothing. */
function agencyRules(): GivenWhen {
  const ledger = givenWhen(evolveUsers, evolveWithdrawals, evolveInstantTransfers, evolveSalaries)
  const words = { name: '', name_ar: null, created_at: FIXED_NOW, updated_at: FIXED_NOW, updated_by: 'staff:ann' }
  for (const id of [1, 2]) ledger.state.set(countries, String(id), { country_id: id, ...words })
  const agency_countries = [{ country_id: 1, diamonds_per_dollar: 10_500 }]
  ledger.given(
    userDefined(1),
    userDefined(2),
    userDefined(4, { charging_agent: 1, allow_receive_withdraw_requests: 1, agency_countries }),
    userDefined(5, { charging_agent: 1, agency_countries }),
    userDefined(7, { business_manager: 1 }),
    credited('user', 1, 'dollars', 9_000),
    credited('user', 1, 'agent_dollars', 9_000),
  )
  return ledger
}

const gold: RequestWithdrawal = {
  caller_id: 1,
  type: 'gold_agent',
  target_id: 4,
  beneficiary_id: 2,
  country_id: 1,
  amount: 2_000,
  agent_benefit: false,
  details: null,
}
const cash = { ...gold, type: 'cash', target_id: 7, beneficiary_id: null } as const

const balance = ({ state }: GivenWhen, name: string): number => Number(state.get(balances, name)?.balance ?? 0n)
const held = ({ state }: GivenWhen, name: string): number => Number(state.get(holds, name)?.held ?? 0n)

test('refusals of a request, in order', async (t) => {
  const errors = (given: Record<string, string[]>) => ({ refusal: 'validation_failed', errors: given })
  const target = (error: string) => errors({ target_user_id: [error] })
  const poor = { amount: 9_001 }
  const nothingRight = errors({
    target_user_id: ['This user is not a charging agent.'],
    beneficiary_user_id: ['There is no user with this id.'],
    country_id: ['There is no country with this id.'],
  })
  const table: [string, RequestWithdrawal, object][] = [
    ['an unknown agent', { ...gold, ...poor, target_id: 99 }, target('This user is not a charging agent.')],
    ['a user who is no agent', { ...gold, target_id: 2 }, target('This user is not a charging agent.')],
    ['a manager', { ...gold, target_id: 7 }, target('This user is not a charging agent.')],
    ['one who receives nothing', { ...gold, target_id: 5 }, target('This agent does not accept requests.')],
    ['a country that is not served', { ...gold, country_id: 2 }, target('This agent does not serve this country.')],
    ['oneself', { ...gold, caller_id: 4 }, target('This must be another user.')],
    [
      'an unknown beneficiary',
      { ...gold, ...poor, beneficiary_id: 98 },
      errors({ beneficiary_user_id: ['There is no user with this id.'] }),
    ],
    ['nothing right', { ...gold, ...poor, target_id: 99, beneficiary_id: 98, country_id: 97 }, nothingRight],
    [
      'an agent for cash',
      { ...cash, target_id: 4 },
      errors({ business_manager_id: ['This user is not a business manager.'] }),
    ],
    ['oneself for cash', { ...cash, caller_id: 7 }, errors({ business_manager_id: ['This must be another user.'] })],
    [
      'cash in an unknown country',
      { ...cash, ...poor, country_id: 3 },
      errors({ country_id: ['There is no country with this id.'] }),
    ],
    ['more than there is', { ...gold, ...poor }, { refusal: 'insufficient_balance' }],
    ['nothing there', { ...gold, caller_id: 2 }, { refusal: 'insufficient_balance' }],
  ]
  for (const [what, input, refusal] of table) {
    const result = agencyRules().when(requestWithdrawal(null), input)
    t.same({ ...result.refusal }, refusal, what)
  }
})

test('an amount on hold cannot be spent, and is released with its request', async (t) => {
  const ledger = agencyRules()
  const ask = (amount: number, agent_benefit = false) =>
    ledger.when(requestWithdrawal(null), { ...gold, amount, agent_benefit })
  const first = ask(8_900)
  t.match(first.events, [
    {
      type: 'withdrawal-requested',
      data: { wallet: 'dollars', amount: 8_900, diamonds_per_dollar: 10_500, details: null },
      movements: [],
    },
  ])
  const id = first.events[0]?.position ?? 0
  t.equal(held(ledger, 'user:1:dollars'), 8_900)
  t.equal(balance(ledger, 'user:1:dollars'), 9_000)

  const moving = { currency: 'dollars', reason: 'x', holder: 'user', id: 1 } as const
  const transfer = { caller_id: 1, receiver_id: 2, agent_benefit: false }
  t.match(ask(101).refusal, { refusal: 'insufficient_balance' })
  t.match(ledger.when(debit, { ...moving, amount: 101 }).refusal, { refusal: 'insufficient_balance' })
  t.match(ledger.when(makeInstantTransfer, { ...transfer, amount: 101 }).refusal, { refusal: 'insufficient_balance' })
  t.equal(ask(9_000, true).refusal, undefined, 'the other wallet is separate')
  t.equal(ledger.when(debit, { ...moving, amount: 50 }).refusal, undefined)
  t.equal(ledger.when(makeInstantTransfer, { ...transfer, amount: 50 }).refusal, undefined)
  t.match(ask(1).refusal, { refusal: 'insufficient_balance' })

  ledger.when(changeStatus(null), { withdrawal_id: id, caller_id: 1, to: 'rejected', note: null })
  t.equal(ledger.state.get(holds, 'user:1:dollars'), undefined, 'no row where nothing is on hold')
  t.equal(ask(8_900).refusal, undefined)
})

test('an event that spends a hold cannot be applied', async (t) => {
  const ledger = agencyRules()
  ledger.when(requestWithdrawal(null), { ...gold, amount: 8_900 })
  const spent = { ...credited('user', 1, 'dollars', 101), type: 'balance-debited' } as const
  const movements = spent.movements.map(({ debit, credit, amount }) => ({ debit: credit, credit: debit, amount }))
  t.throws(() => ledger.given({ ...spent, movements }), /user:1:dollars has less than its hold/)
})

const statuses = ['pending', 'approved', 'rejected', 'transferred'] as const
/** The caller: an operator, the agent or manager, one who has lost the flag, the requester, or another user. */
const callers = ['operator', 'target', 'former target', 'requester', 'stranger'] as const
type Caller = (typeof callers)[number]

/** The allowed changes; all others are refused. */
const allowed: readonly [WithdrawalStatus, WithdrawalStatus, readonly Caller[]][] = [
  ['pending', 'approved', ['operator', 'target']],
  ['pending', 'rejected', ['operator', 'target', 'former target', 'requester']],
  ['approved', 'transferred', ['operator', 'target']],
  ['approved', 'rejected', ['operator']],
]

function expected(from: WithdrawalStatus, to: WithdrawalStatus, caller: Caller): string | null {
  if (caller === 'stranger') return 'not_your_withdrawal'
  const listed = allowed.find(([before, after]) => before === from && after === to)
  if (listed === undefined) return 'invalid_transition'
  return listed[2].includes(caller) ? null : 'not_your_decision'
}

test('every status, every role, every other status', async (t) => {
  let done = 0
  for (const asked of [gold, cash, { ...gold, agent_benefit: true }]) {
    for (const from of statuses) {
      for (const to of statuses) {
        for (const caller of callers) {
          const what = `${asked.type}, ${caller}: ${from} to ${to}`
          const ledger = agencyRules()
          const made = ledger.when(requestWithdrawal(null), asked)
          const withdrawal_id = made.events[0]?.position ?? 0
          const bring = (status: WithdrawalStatus, caller_id: number | null) =>
            ledger.when(changeStatus(null), { withdrawal_id, caller_id, to: status, note: null })
          if (from === 'transferred') bring('approved', null)
          if (from !== 'pending') bring(from, null)
          if (caller === 'former target') ledger.given(userDefined(asked.target_id))
          const who = { operator: null, target: asked.target_id, 'former target': asked.target_id }
          const result = bring(to, caller === 'requester' ? 1 : caller === 'stranger' ? 2 : who[caller])

          const refusal = expected(from, to, caller)
          t.equal(result.refusal?.refusal ?? null, refusal, what)
          const stands = refusal === null ? to : from
          t.equal(ledger.state.get(withdrawals, String(withdrawal_id))?.status, stands, what)
          done += refusal === null ? 1 : 0

          const wallet = `user:1:${asked.agent_benefit ? 'agent_dollars' : 'dollars'}`
          const accounts = [wallet, `withdrawal:${withdrawal_id}:dollars`, `settled:${asked.target_id}:dollars`]
          const expectedSums = {
            pending: [9_000, 0, 0],
            rejected: [9_000, 0, 0],
            approved: [7_000, 2_000, 0],
            transferred: [7_000, 0, 2_000],
          }
          t.same(
            accounts.map((name) => balance(ledger, name)),
            expectedSums[stands],
            what,
          )
          t.equal(held(ledger, wallet), stands === 'pending' ? 2_000 : 0, what)
        }
      }
    }
  }
  t.equal(done, 3 * 9)
  const none = agencyRules().when(changeStatus(null), { withdrawal_id: 5, caller_id: null, to: 'rejected', note: null })
  t.match(none.refusal, { refusal: 'not_found' })
})

test('a change that would exceed a balance is refused', async (t) => {
  const ledger = agencyRules()
  const { events } = ledger.when(requestWithdrawal(null), gold)
  const withdrawal_id = events[0]?.position ?? 0
  const bring = (to: WithdrawalStatus) =>
    ledger.when(changeStatus(null), { withdrawal_id, caller_id: null, to, note: null })
  bring('approved')
  ledger.given(credited('user', 1, 'dollars', MAX_BALANCE - 7_001))
  t.match(bring('rejected').refusal, { refusal: 'balance_limit' })
  ledger.given(credited('user', 2, 'diamonds', MAX_BALANCE - 199))
  const transfer = { caller_id: 1, receiver_id: 2, agent_benefit: false }
  t.match(ledger.when(makeInstantTransfer, { ...transfer, amount: 200 }).refusal, { refusal: 'balance_limit' })
  const most = { ...transfer, receiver_id: 4, amount: MAX_BALANCE - 1 }
  t.match(ledger.when(makeInstantTransfer, most).refusal, { refusal: 'balance_limit' })
})

/** A result with the report in its published form. */
const reported = <R extends { readonly answer: SalaryReport | undefined }>({ answer, ...result }: R) => ({
  ...result,
  answer: answer && salaryReport(answer, 'en'),
})

test('salaries: each user once per period, and refused rows do not affect others', async (t) => {
  const ledger = agencyRules()
  ledger.given(credited('user', 2, 'target', 70), credited('user', 7, 'dollars', MAX_BALANCE))
  const row = { user_id: 1, dollars: 150, agent_dollars: 0, target: 0 }
  const pay = (deposits: (typeof row)[], dry_run = false) =>
    reported(ledger.when(depositSalaries, { period: '2026-10', deposits, dry_run }))
  const deposits = [
    row,
    { ...row, user_id: 2, agent_dollars: 5, target: 70 },
    { ...row, user_id: 99 },
    { ...row, user_id: 4, target: 1 },
    { ...row, user_id: 5, dollars: 0 },
    { ...row, user_id: 7 },
    row,
    { ...row, dollars: 151 },
  ]
  const ids = (list: readonly { readonly user_id: number }[] = []) => list.map(({ user_id }) => user_id)
  const shape = ({ answer }: Pick<ReturnType<typeof pay>, 'answer'>) => ({
    paid: ids(answer?.paid),
    already: ids(answer?.already_paid),
    refused: answer?.refused.map(({ user_id, code }) => [user_id, code]),
  })
  const first = {
    paid: [1, 2],
    already: [1],
    refused: [
      [99, 'unknown_user'],
      [4, 'insufficient_balance'],
      [5, 'nothing_to_pay'],
      [7, 'balance_limit'],
      [1, 'paid_differently'],
    ],
  }
  const dry = pay(deposits, true)
  t.same(shape(dry), first, 'a dry run reports the same')
  t.same(dry.events, [])
  const paid = pay(deposits)
  t.same(shape(paid), first)
  t.match(paid.events, [
    { type: 'salary-deposited', data: { period: '2026-10', user_id: 1, dollars: 150 } },
    {
      type: 'salary-deposited',
      movements: [
        { debit: 'issuance:salary:dollars', credit: 'user:2:dollars', amount: 150 },
        { debit: 'issuance:salary:agent_dollars', credit: 'user:2:agent_dollars', amount: 5 },
        { debit: 'user:2:target', credit: 'house:salary:target', amount: 70 },
      ],
    },
  ])
  t.same(
    paid.answer?.paid.map(({ id }) => id),
    paid.events.map(({ position }) => position),
  )
  const again = pay(deposits)
  t.same(again.events, [])
  t.same(shape(again), { paid: [], already: [1, 2, 1], refused: first.refused })
  t.equal(balance(ledger, 'user:1:dollars'), 9_150)
})
