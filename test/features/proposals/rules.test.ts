import { test } from 'tap'
import type { EventData } from '../../../schema/events.ts'
import {
  approvalSettings,
  approvalUses,
  evolveApprovalSettings,
  evolveApprovalUses,
  isSameLimits,
  openApprovals,
  setApprovals,
} from '../../../src/features/proposals/approval-limits.ts'
import { type ApprovalLimits, type CoveredVerb, coveredCall } from '../../../src/features/proposals/covered-verb.ts'
import { approveProposal, expireProposals, rejectProposal } from '../../../src/features/proposals/decide.ts'
import { limited } from '../../../src/features/proposals/make.ts'
import {
  evolveProposals,
  PROPOSAL_MICROS,
  proposalContents,
  proposals,
} from '../../../src/features/proposals/proposal.ts'
import { evolveUsers } from '../../../src/features/users/user.ts'
import { type Credit, credit, debit } from '../../../src/features/wallet/balance-move.ts'
import { passedTime, passedTimeKey } from '../../../src/ledger/rules/incarnation.ts'
import type { State } from '../../../src/ledger/rules/projection.ts'
import { credited, userDefined } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW, givenWhen } from '../../harness/ledger/given-when.ts'

const HOUR = 3_600_000_000
const MINUTE = 60_000_000

const coveredCredit: CoveredVerb<Credit, unknown, typeof credit.refusals> = {
  verb: credit,
  describe: ({ user_id, reason }) => ({ action: 'credit', subject: `user:${user_id}`, reason }),
}
const findCall = (_verb: string, input: unknown) => coveredCall(coveredCredit, Object(input))
/** The version that is shown of a proposal. */
const versionsOf = (state: State, id: number): string[] => [state.get(proposals, String(id))?.version ?? 'none']

const crediting = (maker = 'staff:ann') => limited('credit', coveredCredit, maker)
const coins = (amount: number): Credit => ({ user_id: 7, currency: 'coins', amount, reason: 'x' })

/** `limits`: null while approvals are off. */
const ledger = (limits: ApprovalLimits | null = { coins: 100 }) => {
  const harness = givenWhen(evolveUsers, evolveProposals, evolveApprovalUses, evolveApprovalSettings)
  harness.state.set(approvalSettings, 'all', { scope: 'all', limits })
  harness.given(userDefined(7))
  return harness
}

const made = (
  amount: number,
  maker = 'staff:ann',
): { type: 'proposal-made'; data: EventData<'proposal-made'>; movements: [] } => ({
  type: 'proposal-made',
  data: {
    maker,
    action: 'credit',
    verb: 'credit',
    input: coins(amount),
    subject: 'user:7',
    reason: 'x',
    amounts: [{ limit: 'coins', amount }],
    terms: {},
    rows_count: 1,
    not_paid: [],
    expires_at: FIXED_NOW + PROPOSAL_MICROS,
  },
  movements: [],
})

test('a sum within the limit is done and counted, and what passes it becomes a proposal', async (t) => {
  const { when, state } = ledger()
  const first = when(crediting(), coins(100))
  t.match(
    first.events.map(({ type, data }) => ({ type, data })),
    [
      { type: 'balance-credited', data: { reason: 'x' } },
      { type: 'approval-limit-used', data: { maker: 'staff:ann', amounts: [{ limit: 'coins', amount: 100 }] } },
    ],
  )
  t.match(first.answer, { done: { position: 2, balance: 100 } })
  const second = when(crediting(), coins(1))
  t.same(
    second.events.map(({ type, data, movements }) => ({ type, data, movements })),
    [made(1)],
  )
  t.match(second.answer, {
    proposed: {
      proposal: { proposal_id: 4, status: 'open', amounts: [{ limit: 'coins', amount: 1 }] },
      preview: { effects: [{}, { account: 'user:7:coins', before: 100, after: 101 }], refusal: null },
    },
  })
  t.equal(state.get(proposals, '4')?.maker, 'staff:ann')
  t.match(when(crediting('staff:ben'), coins(100), { actor: 'staff:ben' }).answer, { done: {} })
  t.match(
    when(crediting(), { ...coins(1), currency: 'diamonds' }).answer,
    { proposed: {} },
    'what is not named has none',
  )
  t.match(when(crediting(), { ...coins(10), user_id: 8 }).refusal, { refusal: 'not_found' })
})

test('limits are obeyed as they are now', async (t) => {
  const { when, state } = ledger(null)
  const credits = (amount: number) => when(crediting(), coins(amount))
  t.same(
    credits(1_000).events.map(({ type }) => type),
    ['balance-credited'],
    'off: nothing is counted',
  )
  const most = Number.MAX_SAFE_INTEGER
  when(setApprovals, { limits: { coins: most } })
  t.match(credits(most - 2_000).answer, { done: {} })
  when(setApprovals, { limits: { coins: 10 } })
  t.match(credits(1).answer, { proposed: {} }, 'what was moved before counts')
  t.same(when(setApprovals, { limits: { coins: 10, cards: 0 } }).events, [], 'the same')
  when(setApprovals, { limits: null })
  t.match(credits(1).answer, { done: {} })
  t.same(when(setApprovals, { limits: null }).events, [], 'off already')
  t.match(state.get(approvalSettings, 'all'), { limits: null })
  t.notOk(isSameLimits({}, null), 'limits of 0 are not off')
})

test('only a ledger that holds nothing but its first event is opened with limits', async (t) => {
  const opened = givenWhen(evolveUsers, evolveApprovalSettings)
  opened.given(userDefined(7))
  t.same(opened.when(openApprovals, { limits: null }).events, [], 'off: as without')
  t.match(opened.when(openApprovals, { limits: {} }).events, [{ type: 'approvals-set', data: { limits: {} } }])
  t.same(opened.when(openApprovals, { limits: { coins: 1 } }).events, [], 'later')
})

test('what was done counts for 24 hours, and a little longer what followed at once', async (t) => {
  const { when, state } = ledger()
  const at = (now: number, amount: number) => when(crediting(), coins(amount), { now }).answer
  t.match(at(FIXED_NOW, 40), { done: {} })
  t.match(at(FIXED_NOW + MINUTE, 20), { done: {} })
  t.same(state.get(approvalUses, 'staff:ann')?.uses, [{ limit: 'coins', amount: 60, at: FIXED_NOW + MINUTE }])
  t.match(at(FIXED_NOW + HOUR, 40), { done: {} })
  t.match(at(FIXED_NOW + 24 * HOUR + MINUTE - 1, 1), { proposed: {} })
  t.match(at(FIXED_NOW + 24 * HOUR + MINUTE, 61), { proposed: {} })
  t.match(at(FIXED_NOW + 24 * HOUR + MINUTE, 60), { done: {} })
  t.match(at(FIXED_NOW + 25 * HOUR, 41), { proposed: {} })
  t.match(at(FIXED_NOW + 25 * HOUR, 40), { done: {} })
  t.equal(state.get(approvalUses, 'staff:ann')?.uses.length, 2, 'what counts no more is dropped')
})

test('the refusals of decisions, in their order', async (t) => {
  const { given, when, state } = ledger()
  given(made(5), made(6), credited('user', 7, 'coins', Number.MAX_SAFE_INTEGER - 5))
  const approve = (proposal_id: number, actor: string, now = FIXED_NOW) =>
    when(
      approveProposal(findCall),
      { proposal_id, versions: versionsOf(state, proposal_id), note: null },
      { actor, now },
    ).refusal?.refusal
  const reject = (proposal_id: number, actor: string, now = FIXED_NOW) =>
    when(
      rejectProposal(findCall),
      { proposal_id, versions: versionsOf(state, proposal_id), note: null },
      { actor, now },
    ).refusal?.refusal
  const later = FIXED_NOW + PROPOSAL_MICROS
  t.equal(approve(9, 'staff:ann'), 'not_found')
  t.equal(reject(9, 'staff:ann'), 'not_found')
  t.equal(approve(2, 'staff:ann', later), 'own_proposal')
  t.equal(approve(2, 'staff:ben', later), 'proposal_closed')
  t.equal(reject(2, 'staff:ben', later), 'proposal_closed')
  t.equal(approve(3, 'staff:ben'), 'balance_limit')
  t.equal(approve(2, 'staff:ben', later - 1), undefined, 'until the last moment')
  t.equal(approve(2, 'staff:ann'), 'own_proposal', 'a closed one, too')
  t.equal(approve(2, 'staff:cem'), 'proposal_closed')
  t.equal(reject(3, 'staff:ann'), undefined, 'the maker may')
  t.equal(reject(3, 'staff:ann'), 'proposal_closed')
})

test('only what is overdue expires, at its time', async (t) => {
  const { given, when, state } = ledger()
  given(made(5), made(6))
  when(rejectProposal(findCall), { proposal_id: 2, versions: versionsOf(state, 2), note: null }, { actor: 'staff:ben' })
  const expire = (now: number) => when(expireProposals, { candidates: [2, 3, 9] }, { now, actor: 'system' }).answer
  const end = FIXED_NOW + PROPOSAL_MICROS
  t.equal(expire(end - 1), 0)
  t.equal(expire(end + HOUR), 1)
  t.equal(expire(end + HOUR), 0)
  t.match(state.get(proposals, '3'), { status: 'expired', decided_by: 'system', decided_at: end, decided_position: 5 })
  t.equal(state.get(proposalContents, '3')?.effects, null)
})

test('a clock that jumped ahead ends no proposal before its time has really passed', async (t) => {
  const { given, when, state } = ledger()
  given(made(5), made(6))
  const end = FIXED_NOW + PROPOSAL_MICROS
  const jumped = { now: end + 72 * HOUR, actor: 'staff:ben' }
  const passed = (at: number) => state.set(passedTime, passedTimeKey.id, { only_row: true, at })
  const expire = () => when(expireProposals, { candidates: [2, 3] }, jumped).answer
  const decision = (proposal_id: number) => ({ proposal_id, versions: versionsOf(state, proposal_id), note: null })
  passed(end - HOUR - 1)
  t.equal(expire(), 0)
  t.equal(when(rejectProposal(findCall), decision(2), jumped).refusal, undefined, 'it can be decided')
  t.match(state.get(proposals, '2'), { status: 'rejected', decided_at: jumped.now })
  passed(end - HOUR)
  t.match(when(approveProposal(findCall), decision(3), jumped).refusal, { refusal: 'proposal_closed' })
  t.equal(expire(), 1)
})

test('what moves nothing is neither proposed nor counted, and a debit counts as a credit does', async (t) => {
  const { given, when } = ledger({ coins: 10 })
  given(credited('user', 7, 'coins', 50))
  const debiting = limited(
    'debit',
    { verb: debit, describe: ({ id, reason }) => ({ action: 'debit', subject: `user:${id}`, reason }) },
    'staff:ann',
  )
  const input = { holder: 'user', id: 7, currency: 'coins', amount: 6, reason: 'x' } as const
  t.match(when(debiting, input).answer, { done: {} })
  t.match(when(crediting(), coins(5)).answer, { proposed: {} })
  t.match(when(debiting, { ...input, amount: 51 }).refusal, { refusal: 'insufficient_balance' })
  const idle = limited(
    'idle',
    { ...coveredCredit, verb: { ...credit, decide: () => [], result: () => 0 } },
    'staff:ann',
  )
  t.same(when(idle, coins(5)), { events: [], answer: { done: 0 }, refusal: undefined })
})
