import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'tap'
import { approveProposal, expireProposals, rejectProposal } from '../../src/features/proposals/decide.ts'
import { limited } from '../../src/features/proposals/make.ts'
import { setApprovals } from '../../src/features/proposals/set-approvals.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { credit } from '../../src/features/wallet/credit.ts'
import { debit } from '../../src/features/wallet/debit.ts'
import { coveredWalletVerbs } from '../../src/features/wallet/verbs.ts'
import { findCallsOf } from '../../src/ledger/executor/registry/covered-verb.ts'
import type { Description } from '../../src/ledger/rules/covered-verb.ts'
import { verifyDatabase } from '../audit/verify-database.ts'
import { createTestExecutor, queryRows, type TestExecutor } from '../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { runs } from '../harness/properties.ts'

const DAY = 24 * 3_600_000_000
const LIMIT = 100

const staff = fc.constantFrom('staff:ann', 'staff:ben', 'staff:cem')
const user_id = fc.integer({ min: 1, max: 2 })
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('credit'),
      actor: staff,
      user_id,
      amount: fc.integer({ min: 1, max: 150 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('debit'),
      actor: staff,
      user_id,
      amount: fc.integer({ min: 1, max: 150 }),
    }),
  },
  // Which of the proposals made before.
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('approve'), actor: staff, index: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reject'), actor: staff, index: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire'), index: fc.nat(20) }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
const burst = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 12 }),
  /** How long to wait before, in microseconds: mostly hours, seldom beyond the life of a proposal. */
  wait: fc.oneof({ weight: 8, arbitrary: fc.nat(DAY / 3) }, { weight: 1, arbitrary: fc.constant(8 * DAY) }),
})

const findCall = findCallsOf(coveredWalletVerbs)
const describe = (action: Description['action'], user: number, reason: string): Description => ({
  action,
  subject: `user:${user}`,
  reason,
})

async function run(executor: TestExecutor, one: Step, proposals: readonly number[]): Promise<void> {
  if ('amount' in one) {
    const move = { currency: 'coins', amount: one.amount, reason: 'x' } as const
    const { actor } = one
    if (one.kind === 'credit') {
      const verb = { verb: credit, describe: () => describe('credit', one.user_id, 'x') }
      await executor.run(limited('credit', verb, actor), { user_id: one.user_id, ...move }, { actor })
    } else {
      const verb = { verb: debit, describe: () => describe('debit', one.user_id, 'x') }
      const input = { holder: 'user', id: one.user_id, ...move } as const
      await executor.run(limited('debit', verb, actor), input, { actor })
    }
    return
  }
  const proposal_id = proposals[one.index % Math.max(proposals.length, 1)] ?? 1_000_000
  if (!('actor' in one)) await executor.run(expireProposals, { candidates: [proposal_id] })
  else {
    const verb = one.kind === 'approve' ? approveProposal(findCall) : rejectProposal(findCall)
    await executor.run(verb, { proposal_id, note: null }, { actor: one.actor })
  }
}

/** Nobody moved more alone in 24 hours than the limit, and every other move was approved by a colleague, once. */
async function assertApproved(database: TestDatabase): Promise<void> {
  const moves = await queryRows(
    database,
    `select e.actor as maker, e.amount[1]::text as amount, (extract(epoch from e.at) * 1000000)::bigint::text as at,
       e.data::json->'approval'->>'proposal_id' as proposal, e.data::json->'approval'->>'approved_by' as approver
     from ledger_events e where e.type in ('balance-credited', 'balance-debited') order by e.position`,
  )
  const alone = moves.filter(({ proposal }) => proposal === null)
  for (const { maker, at } of alone) {
    const sum = alone
      .filter(
        (other) =>
          other['maker'] === maker && Number(other['at']) <= Number(at) && Number(other['at']) > Number(at) - DAY,
      )
      .reduce((total, { amount }) => total + Number(amount), 0)
    assert.ok(sum <= LIMIT, `${maker} moved ${sum} alone`)
  }
  const approved = moves.filter(({ proposal }) => proposal !== null)
  for (const { maker, approver } of approved) assert.notEqual(maker, approver)
  assert.equal(new Set(approved.map(({ proposal }) => proposal)).size, approved.length, 'each proposal at most once')
  const [stored] = await queryRows(database, `select count(*) as count from proposals where status = 'approved'`)
  assert.equal(stored?.['count'], String(approved.length))
}

test('with approvals two instances keep the books and the limits', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 8 }), async (story) => {
      const closings: (() => Promise<void>)[] = []
      const scope = { teardown: (closing: () => Promise<void>) => void closings.unshift(closing) }
      try {
        const database = await testDatabase()
        const instances = [
          createTestExecutor(scope, database.serviceUrl),
          createTestExecutor(scope, database.serviceUrl),
        ] as const
        await instances[0].runOk(defineUsers, { users: [{ id: 1 }, { id: 2 }], listed: true })
        await instances[1].runOk(setApprovals, { limits: { coins: LIMIT } })
        for (const { steps, wait } of story) {
          // Counts as a batch of its own, so that the executors see that time went on.
          await queryRows(
            database,
            `update ledger_head set at = greatest(at, clock_timestamp()) + ${wait} * interval '1 microsecond', batch = gen_random_uuid()`,
          )
          const made = await queryRows(database, 'select proposal_id from proposals order by proposal_id')
          const ids = made.map(({ proposal_id }) => Number(proposal_id))
          await Promise.all(steps.map((one, i) => run(instances[i % 2 === 0 ? 0 : 1], one, ids)))
        }
        await assertApproved(database)
        assert.deepEqual((await verifyDatabase(database)).findings, [])
        for (const { bugs, failures } of instances) assert.deepEqual([...bugs, ...failures], [])
      } finally {
        for (const closing of closings) await closing()
      }
    }),
    runs(6),
  )
  t.pass()
})
