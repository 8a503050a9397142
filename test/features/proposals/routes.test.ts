import { test } from 'tap'
import { loadSlices } from '../../../src/domain.ts'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { WriteAllowance } from '../../../src/http/limits/write-allowance.ts'
import type { ApprovalLimits } from '../../../src/ledger/rules/covered-verb.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { createTestApp, type TestApp, type TestResponse } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'

const { slices } = await loadSlices()

const credits = '/admin/v1/users/7/credits'
const path = (id: number, verb = ''): string => `/admin/v1/proposals/${id}${verb === '' ? '' : `/${verb}`}`

/** The `data` of a response; each test knows its form. */
const dataOf = ({ body }: TestResponse) => Object(body).data

/** Users 7 and 8, room 3 and a package; ann, ben and cem are operators, and fin is of finance. */
async function approvalApp(t: Parameters<typeof createTestApp>[0], limits: ApprovalLimits | null): Promise<TestApp> {
  const opened = await createTestApp(t, slices, undefined, new WriteAllowance(null), new AddressLimit(null), limits)
  const { operator } = opened
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }, { id: 8 }] })
  await operator('PUT', '/admin/v1/rooms/3', { owner_id: 7 })
  await operator('PUT', '/admin/v1/privilege-packages/1', { name: 'P', rank: 1, valid_days: 10, icon_path: 'p.png' })
  await operator('PUT', '/admin/v1/decorations/3', { name: 'G', kind: 'standard', price: 5, image_path: 'g.png' })
  return opened
}

test('what passes a limit waits for a colleague, who sees what it moves', async (t) => {
  const { operator, staff, database, ledger } = await approvalApp(t, { coins: 100 })
  const move = { currency: 'coins', amount: 60, reason: 'a prize' }
  t.equal((await operator('POST', credits, move)).status, 201)
  const proposed = await operator('POST', credits, move)
  t.equal(proposed.status, 202)
  const { id } = dataOf(proposed)
  const open = {
    id,
    status: 'open',
    action: 'credit',
    subject: 'user:7',
    amount: 60,
    currency: 'coins',
    reason: 'a prize',
    effects: [
      { account: 'issuance:operator:coins', before: -60, after: -120 },
      { account: 'user:7:coins', before: 60, after: 120 },
    ],
    maker: 'staff:ann',
    decided_by: null,
    note: null,
    refusal: null,
    decided_at: null,
  }
  t.match(dataOf(proposed), open)
  t.equal((await staff('ben')('POST', credits, move)).status, 201, 'each member of staff has a limit of their own')
  const shown = await staff('fin', 'finance')('GET', path(id))
  const now = [
    { account: 'issuance:operator:coins', before: -120, after: -180 },
    { account: 'user:7:coins', before: 120, after: 180 },
  ]
  t.match(dataOf(shown), { ...open, effects: now }, 'as of now')
  t.match(dataOf(await operator('GET', '/admin/v1/proposals?status=open')), [{ id, effects: now }])
  t.same(dataOf(await operator('GET', '/admin/v1/proposals?status=approved')), [])

  t.match(await staff('fin', 'finance')('POST', path(id, 'approve')), { status: 403, body: { code: 'forbidden' } })
  t.match(await operator('POST', path(id, 'approve')), { status: 403, body: { code: 'own_proposal' } })
  const approved = await staff('ben')('POST', path(id, 'approve'), { note: 'as agreed' })
  t.match(approved, {
    status: 200,
    body: {
      data: {
        ...open,
        status: 'approved',
        effects: now,
        decided_by: 'staff:ben',
        note: 'as agreed',
        decided_at: String,
      },
    },
  })
  t.match(await staff('cem')('POST', path(id, 'approve')), { status: 422, body: { code: 'proposal_closed' } })
  t.match(await operator('POST', path(id, 'reject')), { status: 422, body: { code: 'proposal_closed' } })
  t.match(await operator('POST', path(999, 'approve')), { status: 404 })
  t.same(dataOf(await operator('GET', path(id))), dataOf(approved), 'what it moved is kept')

  const events = await queryRows(
    database,
    `select type, actor, data, request_id from ledger_events where position >= ${id} order by position`,
  )
  t.match(
    events.map(({ type, actor }) => [type, actor]),
    [
      ['proposal-made', 'staff:ann'],
      ['balance-credited', 'staff:ben'],
      ['approval-limit-used', 'staff:ben'],
      ['proposal-decided', 'staff:ben'],
      ['balance-credited', 'staff:ann'],
    ],
  )
  t.equal(events[4]?.['request_id'], events[3]?.['request_id'])
  t.match(JSON.parse(String(events[4]?.['data'])), {
    reason: 'a prize',
    approval: { proposal_id: id, approved_by: 'staff:ben' },
  })
  t.equal((await operator('POST', credits, { ...move, amount: 40 })).status, 201, 'what was approved counts for nobody')
  t.equal((await operator('POST', credits, { ...move, amount: 1 })).status, 202)
  t.same((await verifyDatabase(database)).findings, [])
  t.same(ledger.bugs, [])
})
