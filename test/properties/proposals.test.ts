import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'tap'
import { eraseProfile } from '../../src/erasure/erase-profile.ts'
import { coveredAgencyVerbs, namedDepositSalaries } from '../../src/features/agency/verbs.ts'
import { defineDecoration } from '../../src/features/gifts/define-decoration.ts'
import { coveredGiftVerbs } from '../../src/features/gifts/verbs.ts'
import { definePackage } from '../../src/features/privilege/package.ts'
import { coveredPrivilegeVerbs } from '../../src/features/privilege/verbs.ts'
import { setApprovals } from '../../src/features/proposals/approval-limits.ts'
import { approveProposal, expireProposals, rejectProposal } from '../../src/features/proposals/decide.ts'
import { limited } from '../../src/features/proposals/make.ts'
import { findCallsOf, type NamedCoveredVerb } from '../../src/features/proposals/register-covered.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { erasedUid } from '../../src/features/users/user.ts'
import { credit, debit } from '../../src/features/wallet/balance-move.ts'
import { coveredWalletVerbs } from '../../src/features/wallet/verbs.ts'
import type { Movement } from '../../src/ledger/rules/account.ts'
import { verifyDatabase } from '../audit/verify-database.ts'
import { createTestExecutor, queryRows, type TestExecutor } from '../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { runs } from '../harness/properties.ts'

const DAY = 24 * 3_600_000_000
const LIMIT = 100

const staff = fc.constantFrom('staff:ann', 'staff:ben', 'staff:cem')
const user_id = fc.integer({ min: 1, max: 4 })
const amount = fc.integer({ min: 1, max: 150 })
const index = fc.nat(20)
const of = <const Kind extends string, Fields extends object>(
  kind: Kind,
  fields: { readonly [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) => fc.record<Fields>(fields).map((rest) => ({ kind, ...rest }))

/** What staff ask for. The coins within the limit are moved at once, everything else is proposed. */
const asked = fc.oneof(
  of('credit', { actor: staff, user_id, amount }),
  of('debit', { actor: staff, user_id, amount }),
  of('cards', { actor: staff, user_id, quantity: fc.integer({ min: 1, max: 3 }) }),
  of('bag', { actor: staff, user_id, quantity: fc.integer({ min: 1, max: 3 }) }),
  of('price', { actor: staff, price: fc.integer({ min: 1, max: 9 }) }),
  of('salaries', {
    actor: staff,
    period: fc.constantFrom('p1', 'p2'),
    deposits: fc.array(
      fc.record({
        user_id,
        dollars: fc.integer({ min: 0, max: 3 }),
        agent_dollars: fc.integer({ min: 0, max: 1 }),
        target: fc.integer({ min: 0, max: 5 }),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  }),
)
/** What else happens meanwhile, without approvals. */
const meanwhile = fc.oneof(
  of('announce', { user_id }),
  of('erase', { user_id: fc.integer({ min: 2, max: 4 }) }),
  of('package', { rank: fc.integer({ min: 1, max: 3 }), valid_days: fc.integer({ min: 1, max: 3 }) }),
  of('points', { user_id, amount: fc.integer({ min: -5, max: 5 }).filter((points) => points !== 0) }),
)
const step = fc.oneof(
  { weight: 5, arbitrary: asked },
  { weight: 3, arbitrary: meanwhile },
  // Which of the proposals that were shown before.
  { weight: 5, arbitrary: of('approve', { actor: staff, index }) },
  { weight: 1, arbitrary: of('reject', { actor: staff, index }) },
  { weight: 1, arbitrary: of('expire', { index }) },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
const burst = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 12 }),
  /** How long to wait before, in microseconds: mostly hours, seldom beyond the life of a proposal. */
  wait: fc.oneof({ weight: 8, arbitrary: fc.nat(DAY / 3) }, { weight: 1, arbitrary: fc.constant(8 * DAY) }),
  /** Whether one of the instances starts again before. */
  restarts: fc.boolean(),
})

const [namedCredit, namedDebit] = coveredWalletVerbs
const [namedBag, namedPrice] = coveredGiftVerbs
const [namedCards] = coveredPrivilegeVerbs
const findCall = findCallsOf([
  ...coveredWalletVerbs,
  ...coveredGiftVerbs,
  ...coveredPrivilegeVerbs,
  ...coveredAgencyVerbs,
])
const reason = 'x'

/** A proposal as it was shown: what it does under this version. */
interface Shown {
  readonly id: number
  readonly version: string
  readonly input: string
  readonly amounts: string
  readonly terms: string
}

async function run({ run: send }: TestExecutor, one: Step, proposals: readonly Shown[]): Promise<void> {
  const ask = <Input, Answer>({ name, covered }: NamedCoveredVerb<Input, Answer>, input: Input, actor: string) =>
    send(limited(name, covered, actor), input, { actor })
  const { id: proposal_id, version } = proposals[('index' in one ? one.index : 0) % Math.max(proposals.length, 1)] ?? {
    id: 1_000_000,
    version: 'none',
  }
  const decision = { proposal_id, versions: [version], note: null }
  switch (one.kind) {
    case 'credit':
      await ask(
        namedCredit,
        { user_id: one.user_id, currency: 'coins' as const, amount: one.amount, reason },
        one.actor,
      )
      break
    case 'debit': {
      const debited = { holder: 'user', id: one.user_id, currency: 'coins', amount: one.amount, reason } as const
      await ask(namedDebit, debited, one.actor)
      break
    }
    case 'cards': {
      const { user_id, quantity, actor } = one
      await ask(namedCards, { user_id, privilege_package_id: 1, quantity, reason }, actor)
      break
    }
    case 'bag':
      await ask(namedBag, { user_id: one.user_id, decoration_id: 1, quantity: one.quantity, reason }, one.actor)
      break
    case 'price':
      await ask(namedPrice, { decoration_id: 1, price: one.price }, one.actor)
      break
    case 'salaries': {
      const { period, deposits, actor } = one
      await ask(namedDepositSalaries, { period, deposits, dry_run: false }, actor)
      break
    }
    case 'announce':
      await send(defineUsers, { users: [{ id: one.user_id }], listed: true })
      break
    case 'erase': {
      const new_uid = erasedUid(String(one.user_id).repeat(32))
      await send(eraseProfile, { user_id: one.user_id, new_uid, withdrawal_ids: [], devices: [] })
      break
    }
    case 'package':
      await send(definePackage, { privilege_package_id: 1, name: 'P', rank: one.rank, valid_days: one.valid_days })
      break
    case 'points': {
      const moved = { currency: 'target', amount: Math.abs(one.amount), reason } as const
      if (one.amount > 0) await send(credit, { user_id: one.user_id, ...moved })
      else await send(debit, { holder: 'user', id: one.user_id, ...moved })
      break
    }
    case 'approve':
      await send(approveProposal(findCall), decision, { actor: one.actor })
      break
    case 'reject':
      await send(rejectProposal(findCall), decision, { actor: one.actor })
      break
    case 'expire':
      await send(expireProposals, { candidates: [proposal_id] })
      break
  }
}

const readShown = (database: TestDatabase): Promise<Shown[]> =>
  queryRows(
    database,
    `select proposal_id, version, input, amounts, terms from proposals join proposal_contents using (proposal_id)
     order by proposal_id`,
  ).then((rows) =>
    rows.map(({ proposal_id, version, input, amounts, terms }) => ({
      id: Number(proposal_id),
      version: String(version),
      input: String(input),
      amounts: String(amounts),
      terms: String(terms),
    })),
  )

const keyOfShown = ({ id, version }: Pick<Shown, 'id' | 'version'>): string => `${id} ${version}`

/** What was approved is what was shown under its version, or rows of a file less; nobody who was erased was given anything. */
async function assertAsShown(database: TestDatabase, seen: ReadonlyMap<string, Shown>): Promise<void> {
  const approved = new Map<number, { readonly shown: Shown; readonly taken: Map<string, number> }>()
  for (const { proposal_id, version } of await queryRows(
    database,
    `select proposal_id, version from proposals where status = 'approved'`,
  )) {
    const id = Number(proposal_id)
    const shown = seen.get(keyOfShown({ id, version: String(version) }))
    assert.ok(shown, `proposal ${id} was approved under a version that nobody was shown`)
    approved.set(id, { shown, taken: new Map() })
  }
  const events = await queryRows(
    database,
    `select type, data,
            (select json_agg(m order by leg) from ledger_movements m where m.position = l.position) as movements
     from ledger l order by position`,
  )
  const now = { rank: 0, price: 0, inBags: 0, erased: new Set<number>() }
  for (const { type, data: text, movements } of events) {
    const data = JSON.parse(text ?? '')
    const one = approved.get(data.approval?.proposal_id)
    if (one !== undefined) {
      const input = JSON.parse(one.shown.input)
      const terms = JSON.parse(one.shown.terms)
      const take = (limit: string, taken: number): void =>
        void one.taken.set(limit, (one.taken.get(limit) ?? 0) + taken)
      const moved: readonly (Movement & { currency: string })[] = JSON.parse(movements ?? '[]')
      const [debited, credited] = [moved.map(({ debit }) => debit), moved.map(({ credit }) => credit)]
      for (const { currency, amount } of moved) take(currency, amount)
      switch (type) {
        case 'balance-credited':
          assert.deepEqual(credited, [`user:${input.user_id}:coins`])
          assert.ok(!now.erased.has(input.user_id), 'an erased user was credited')
          break
        case 'balance-debited':
          assert.deepEqual(debited, [`user:${input.id}:coins`])
          assert.ok(!now.erased.has(input.id), 'an erased user was debited')
          break
        case 'card-granted':
          assert.deepEqual([data.user_id, data.valid_days, now.rank], [input.user_id, terms.valid_days, terms.rank])
          assert.ok(!now.erased.has(data.user_id), 'an erased user was given a card')
          take('cards', 1)
          break
        case 'bag-items-added':
          assert.deepEqual([data.user_id, now.price], [input.user_id, terms.price])
          assert.ok(!now.erased.has(data.user_id), 'an erased user was given a gift')
          take('bag', data.quantity * now.price)
          break
        case 'decoration-defined':
          assert.deepEqual([data.price, now.price], [input.price, terms.price])
          take('bag', (data.price - now.price) * now.inBags)
          break
        case 'salary-deposited': {
          const { period, approval: _approval, ...row } = data
          assert.equal(period, input.period)
          assert.ok(!now.erased.has(row.user_id), 'an erased user was paid')
          assert.ok(
            input.deposits.some((shown: object) => JSON.stringify(shown) === JSON.stringify(row)),
            `${JSON.stringify(row)} was paid and not proposed`,
          )
          break
        }
        default:
          assert.fail(`an approval made ${type}`)
      }
    }
    if (type === 'privilege-package-defined') now.rank = data.rank
    else if (type === 'decoration-defined') now.price = data.price
    else if (type === 'bag-items-added') now.inBags += data.quantity
    else if (type === 'user-forgotten') now.erased.add(data.user_id)
  }
  for (const [id, { shown, taken }] of approved) {
    const isPart = ['deposits', 'price'].some((field) => field in JSON.parse(shown.input))
    for (const { limit, amount: most } of JSON.parse(shown.amounts)) {
      const sum = taken.get(limit) ?? 0
      assert.ok(isPart ? sum <= most : sum === most, `proposal ${id} showed ${most} of ${limit} and took ${sum}`)
      taken.delete(limit)
    }
    assert.deepEqual(
      [...taken].filter(([, sum]) => sum !== 0),
      [],
      `proposal ${id} took what it did not show`,
    )
  }
}

/** Nobody moved more alone in 24 hours than the limit, and every other move was approved by a colleague, once. */
async function assertApproved(database: TestDatabase): Promise<void> {
  const moves = await queryRows(
    database,
    `select e.actor as maker, (select amount from ledger_movements m where m.position = e.position and m.leg = 1) as amount, (extract(epoch from e.at) * 1000000)::bigint::text as at,
       e.data::json->'approval'->>'proposal_id' as proposal, e.data::json->'approval'->>'approved_by' as approver
     from ledger e where e.type in ('balance-credited', 'balance-debited') and e.actor <> 'system' order by e.position`,
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
  const [stored] = await queryRows(
    database,
    `select count(*) as count from proposals where status = 'approved' and action in ('credit', 'debit')`,
  )
  assert.equal(stored?.['count'], String(approved.length))
}

test('with approvals two instances keep the books and the limits, and do what was shown or nothing', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 8 }), async (story) => {
      const closings: (() => Promise<void>)[] = []
      const scope = { teardown: (closing: () => Promise<void>) => void closings.unshift(closing) }
      try {
        const database = await testDatabase()
        const started: TestExecutor[] = []
        const start = (): TestExecutor => {
          const instance = createTestExecutor(scope, database.serviceUrl)
          started.push(instance)
          return instance
        }
        let [first, second] = [start(), start()]
        await first.runOk(defineUsers, { users: [{ id: 1 }, { id: 2 }], listed: true })
        await first.runOk(definePackage, { privilege_package_id: 1, name: 'P', rank: 1, valid_days: 1 })
        await first.runOk(defineDecoration, { decoration_id: 1, name: 'G', kind: 'standard', price: 1 })
        await second.runOk(setApprovals, { limits: { coins: LIMIT } })
        const seen = new Map<string, Shown>()
        for (const { steps, wait, restarts } of story) {
          // Counts as a batch of its own, so that the executors see that time passed.
          await queryRows(
            database,
            `update ledger_head set at = greatest(at, clock_timestamp()) + ${wait} * interval '1 microsecond', batch = gen_random_uuid()`,
          )
          if (restarts) {
            await first.executor.close()
            ;[first, second] = [second, start()]
          }
          const shown = await readShown(database)
          for (const one of shown) seen.set(keyOfShown(one), one)
          await Promise.all(steps.map((one, i) => run(i % 2 === 0 ? first : second, one, shown)))
        }
        await assertApproved(database)
        await assertAsShown(database, seen)
        assert.deepEqual((await verifyDatabase(database)).findings, [])
        for (const { bugs, failures } of started) assert.deepEqual([...bugs, ...failures], [])
      } finally {
        for (const closing of closings) await closing()
      }
    }),
    runs(6),
  )
  t.pass()
})
