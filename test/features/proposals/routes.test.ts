import { test } from 'tap'
import { loadSlices } from '../../../src/domain.ts'
import { expireProposals } from '../../../src/features/proposals/decide.ts'
import { findOverdueProposals } from '../../../src/features/proposals/reads.ts'
import { rechain, tamper, verifyDatabase } from '../../audit/verify-database.ts'
import { createTestApp, readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { dataOf } from '../answers.ts'

const { slices } = await loadSlices()

const credits = '/admin/v1/users/7/credits'
const path = (id: number, verb = ''): string => `/admin/v1/proposals/${id}${verb === '' ? '' : `/${verb}`}`

test('proposals', async (t) => {
  const { operator, staff, user, database, ledger } = await createTestApp(t, slices, { approvalLimits: { coins: 100 } })
  await operator('POST', '/admin/v1/users', { users: [7, 8, 9, 10, 11, 12].map((id) => ({ id })) })
  await operator('PUT', '/admin/v1/rooms/3', { owner_id: 7 })
  await operator('PUT', '/admin/v1/privilege-packages/1', { name: 'P', rank: 1, valid_days: 10, icon_path: 'p.png' })
  await operator('PUT', '/admin/v1/decorations/3', { name: 'G', kind: 'standard', price: 5, image_path: 'g.png' })

  await t.test('what passes a limit waits for a colleague, who sees what it moves', async (t) => {
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
    t.equal(
      (await operator('POST', credits, { ...move, amount: 40 })).status,
      201,
      'what was approved counts for nobody',
    )
    t.equal((await operator('POST', credits, { ...move, amount: 1 })).status, 202)
  })

  await t.test('of two who approve at once one does, and a retry gets the answer again', async (t) => {
    const maker = staff('gil')
    const move = { currency: 'diamonds', amount: 5, reason: 'x' }
    const key = { 'idempotency-key': 'k' }
    const proposed = await maker('POST', credits, move, key)
    t.equal(proposed.status, 202, 'what is not named has the limit 0')
    const again = await maker('POST', credits, move, key)
    t.equal(again.text, proposed.text)
    t.equal(again.headers['idempotency-replayed'], 'true')
    t.same(await queryRows(database, `select 1 from proposals where maker = 'staff:gil'`), [{ '?column?': '1' }])
    t.match(await maker('POST', credits, { ...move, amount: 6 }, key), { body: { code: 'idempotency_key_reused' } })

    const { id } = dataOf(proposed)
    const approvers = ['ben', 'cem', 'dan', 'eve']
    const answers = await Promise.all(approvers.map((sub) => staff(sub)('POST', path(id, 'approve'), {}, key)))
    t.equal(answers.filter(({ status }) => status === 200).length, 1)
    t.equal(answers.filter(({ status }) => status === 422).length, 3)
    for (const [i, sub] of approvers.entries()) {
      const retried = await staff(sub)('POST', path(id, 'approve'), {}, key)
      t.equal(retried.text, answers[i]?.text, sub)
      t.equal(retried.headers['idempotency-replayed'], 'true')
    }
    t.same(await queryRows(database, `select balance from balances where account = 'user:7:diamonds'`), [
      { balance: '5' },
    ])
  })

  await t.test('a refused approval answers what the direct way would, and leaves the proposal open', async (t) => {
    const own = '/admin/v1/users/9'
    const maker = staff('hal')
    t.equal((await maker('POST', `${own}/credits`, { currency: 'coins', amount: 100, reason: 'x' })).status, 201)
    t.match(await staff('cem')('POST', `${own}/debits`, { currency: 'coins', amount: 101, reason: 'x' }), {
      status: 422,
      body: { code: 'insufficient_balance' },
    })
    const debit = { currency: 'coins', amount: 100, reason: 'x' }
    const { id } = dataOf(await maker('POST', `${own}/debits`, debit))
    t.equal((await staff('cem')('POST', `${own}/debits`, { ...debit, amount: 30 })).status, 201)
    t.match(dataOf(await maker('GET', path(id))), { status: 'open', effects: [], refusal: 'insufficient_balance' })
    const refused = await staff('ben')('POST', path(id, 'approve'))
    t.match(refused, { status: 422, body: { code: 'insufficient_balance' } })
    t.equal((await staff('cem')('POST', `${own}/credits`, { ...debit, amount: 30 })).status, 201)
    t.match(await staff('ben')('POST', path(id, 'approve')), { status: 200, body: { data: { status: 'approved' } } })

    const other = dataOf(await maker('POST', `${own}/credits`, debit)).id
    const rejected = await maker('POST', path(other, 'reject'), { note: 'a mistake' })
    t.match(rejected, {
      status: 200,
      body: {
        data: {
          status: 'rejected',
          decided_by: 'staff:hal',
          note: 'a mistake',
          effects: [{}, { account: 'user:9:coins', before: 0, after: 100 }],
        },
      },
    })
    t.match(await staff('ben')('POST', path(other, 'approve')), { status: 422, body: { code: 'proposal_closed' } })
    t.match(await staff('ben')('POST', path(other, 'reject'), { note: 'x'.repeat(501) }), {
      body: { code: 'validation_failed', errors: { note: [String] } },
    })
  })

  await t.test('every covered route proposes, and an approval does what was asked', async (t) => {
    const reason = 'x'
    const deposits = [
      { user_id: 10, dollars: 12.5, agent_dollars: 1 },
      { user_id: 999, dollars: 1, agent_dollars: 0 },
    ]
    const target = dataOf(
      await operator('POST', '/admin/v1/users/10/credits', { currency: 'target', amount: 9, reason }),
    ).id
    await staff('ben')('POST', path(target, 'approve'))
    const requests: readonly (readonly [url: string, body: object, shown: object])[] = [
      [
        '/users/10/debits',
        { currency: 'target', amount: 4, reason },
        { action: 'debit', subject: 'user:10', amount: 4 },
      ],
      [
        '/users/10/cards',
        { privilege_package_id: 1, quantity: 2, reason },
        { action: 'cards', currency: 'cards', amount: 2, effects: [{ account: 'user:10:cards', before: 0, after: 2 }] },
      ],
      [
        '/users/10/bag',
        { decoration_id: 3, quantity: 6, reason },
        { action: 'bag', currency: 'bag', amount: 6, effects: [{ account: 'user:10:bag:3', before: 0, after: 6 }] },
      ],
      [
        '/salary-deposits',
        { period: '2026-10', deposits },
        {
          action: 'salary_file',
          subject: 'period:2026-10',
          amount: null,
          currency: null,
          reason: null,
          effects: [
            { account: 'issuance:salary:dollars', before: 0, after: -12.5 },
            { account: 'user:10:dollars', before: 0, after: 12.5 },
            { account: 'issuance:salary:agent_dollars' },
            { account: 'user:10:agent_dollars', after: 1 },
          ],
        },
      ],
    ]
    for (const [url, body, shown] of requests) {
      const proposed = await operator('POST', `/admin/v1${url}`, body)
      t.match(proposed, { status: 202, body: { data: shown } }, url)
      t.equal((await staff('ben')('POST', path(dataOf(proposed).id, 'approve'))).status, 200, url)
    }
    t.match(await operator('POST', '/admin/v1/rooms/3/debits', { currency: 'target', amount: 1, reason }), {
      status: 422,
      body: { code: 'insufficient_balance' },
    })
    t.match(await operator('POST', '/admin/v1/users/999/credits', { currency: 'coins', amount: 1, reason }), {
      status: 404,
    })
    t.match((await user(10)('GET', '/v1/wallet')).body, { data: { wallet_dollars_count: 12.5, target: 5 } })
    const paidAgain = await operator('POST', '/admin/v1/salary-deposits', { period: '2026-10', deposits })
    t.match(paidAgain, { status: 201, body: { data: { paid: [], already_paid: [{ user_id: 10 }] } } }, 'nothing moves')
    const pages = await operator('GET', '/admin/v1/proposals?limit=2')
    t.match(pages.body, { data: [{ action: 'salary_file' }, { action: 'bag' }], meta: { next_cursor: String } })
    const cursor = Object(pages.body).meta.next_cursor
    t.match(await operator('GET', `/admin/v1/proposals?limit=3&cursor=${cursor}`), {
      body: { data: [{ action: 'cards' }, { action: 'debit' }, { action: 'credit' }] },
    })
    t.equal((await user(7)('GET', '/admin/v1/proposals')).status, 403)
    t.equal((await user(7)('POST', path(target, 'approve'))).status, 403)
  })

  await t.test('a salary file of which no event could hold the sum is refused, and nothing is written', async (t) => {
    const ids = Array.from({ length: 12 }, (_, i) => 100 + i)
    await operator('POST', '/admin/v1/users', { users: ids.map((id) => ({ id })) })
    const [head] = await queryRows(database, 'select position from ledger_head')
    const row = { dollars: '9999999999999.99', agent_dollars: 0 }
    const file = { period: '2026-08', deposits: ids.map((user_id) => ({ user_id, ...row })) }
    t.match(await operator('POST', '/admin/v1/salary-deposits', file), { status: 422, body: { code: 'balance_limit' } })
    t.same(await queryRows(database, 'select position from ledger_head'), [head])
    // Nine of them are the most that 2^53-1 cents have.
    const most = { ...file, deposits: file.deposits.slice(0, 9) }
    t.match(await operator('POST', '/admin/v1/salary-deposits', most), { status: 202 })
  })

  await t.test(
    'a salary file says which rows are not paid, and why: when it is proposed, shown, approved and kept',
    async (t) => {
      const move = { currency: 'target', amount: 9, reason: 'x' }
      await staff('ben')('POST', path(dataOf(await operator('POST', '/admin/v1/users/11/credits', move)).id, 'approve'))
      const deposit = (user_id: number, target = 0) => ({ user_id, dollars: 1, agent_dollars: 0, target })
      const file = (...deposits: object[]) =>
        operator('POST', '/admin/v1/salary-deposits', { period: '2026-07', deposits })
      const { id } = dataOf(await file(deposit(11, 5), deposit(12, 5), deposit(999), deposit(11, 5)))
      const rows = [
        { user_id: 12, code: 'insufficient_balance' },
        { user_id: 999, code: 'unknown_user' },
        { user_id: 11, code: 'already_paid' },
      ]
      t.same(dataOf(await operator('GET', path(id))).not_paid, rows)
      t.same(dataOf(await operator('GET', '/admin/v1/proposals?status=open'))[0].not_paid, rows)
      const other = dataOf(await file(deposit(11, 5)))
      t.same(other.not_paid, [])
      // Points that are spent between proposal and approval.
      const debit = dataOf(await operator('POST', '/admin/v1/users/11/debits', { ...move, amount: 5 }))
      t.notOk('not_paid' in debit, 'only of a file')
      await staff('ben')('POST', path(debit.id, 'approve'))
      const now = [
        { user_id: 11, code: 'insufficient_balance' },
        ...rows.slice(0, 2),
        { user_id: 11, code: 'insufficient_balance' },
      ]
      t.same(dataOf(await operator('GET', path(id))).not_paid, now)
      const approved = await staff('ben')('POST', path(id, 'approve'))
      t.match(approved, { status: 200, body: { data: { status: 'approved', effects: [], not_paid: now } } })
      t.same(dataOf(await operator('GET', path(id))), dataOf(approved))
      const rejected = dataOf(await operator('POST', path(other.id, 'reject')))
      t.match(rejected, { status: 'rejected', not_paid: [{ user_id: 11, code: 'insufficient_balance' }] })
      t.same(dataOf(await operator('GET', path(other.id))), rejected)
    },
  )

  await t.test('verify finds approvals and effects that are forged, although all hashes were recomputed', async (t) => {
    const approved = async (url: string, body: object): Promise<number> => {
      const { id } = dataOf(await operator('POST', `/admin/v1${url}`, body))
      t.equal((await staff('ben')('POST', path(id, 'approve'))).status, 200)
      return id
    }
    const update = (position: number, set: string) => `update ledger_events set ${set} where position = ${position}`
    const inData = (position: number, from: string, to: string) =>
      update(position, `data = replace(data, '${from}', '${to}')`)
    const credited = () => approved('/users/7/credits', { currency: 'coins', amount: 5, reason: 'x' })
    const file = (period: string) => {
      const deposits = [7, 8].map((user_id) => ({ user_id, dollars: 5, agent_dollars: 1 }))
      return () => approved('/salary-deposits', { period, deposits })
    }

    /** What is made, how it is forged, and the check, the offset from the proposal and the message of a finding. */
    const cases: readonly (readonly [
      what: string,
      make: () => Promise<number>,
      forge: (id: number) => readonly string[],
      finding: readonly [check: string, offset: number, message?: RegExp],
    ])[] = [
      ['an effect by somebody else', credited, (id) => [update(id + 2, `actor = 'staff:ben'`)], ['approval', 2]],
      ['another approver', credited, (id) => [inData(id + 2, 'staff:ben', 'staff:cem')], ['approval', 2]],
      [
        'an approval by its maker',
        credited,
        (id) => [
          inData(id + 1, '"decided_by":"staff:ben"', '"decided_by":"staff:ann"'),
          update(id + 1, `actor = 'staff:ann'`),
        ],
        ['rules', 1],
      ],
      [
        'an effect without its approval',
        credited,
        (id) => [inData(id + 1, '"decision":"approved"', '"decision":"rejected"')],
        ['approval', 1],
      ],
      ['an effect of another command', credited, (id) => [update(id + 2, `request_id = 'other'`)], ['approval', 1]],
      ['a maker who is not the actor', credited, (id) => [update(id, `actor = 'staff:cem'`)], ['approval', 0]],
      [
        'another amount',
        credited,
        (id) => [update(id + 2, `amount = '{500}'`)],
        ['approval', 1, /changes user:7:coins by 500, .* says 5$/],
      ],
      [
        'another amount, in what was approved too',
        credited,
        (id) => [
          update(id + 2, `amount = '{500}'`),
          update(id + 1, `data = regexp_replace(data, '"before":(-?\\d+),"after":-?\\d+', '"before":0,"after":-500')`),
          update(
            id + 1,
            `data = regexp_replace(data, '("account":"user:7:coins","before":)\\d+,"after":\\d+', '\\10,"after":500')`,
          ),
        ],
        ['approval', 1, /moves 500, but proposal \d+ is of 5$/],
      ],
      [
        'another user',
        credited,
        (id) => [update(id + 2, `credit = '{user:8:coins}'`), inData(id + 1, 'user:7:coins', 'user:8:coins')],
        ['approval', 1, /moves nothing of user:7/],
      ],
      [
        'its maker, written otherwise',
        credited,
        (id) => [
          inData(id + 1, 'staff:ben', 'staff:Ann'),
          update(id + 1, `actor = 'staff:Ann'`),
          inData(id + 2, 'staff:ben', 'staff:Ann'),
        ],
        ['approval', 1, /approved by staff:Ann, who is its maker/],
      ],
      [
        'another action',
        credited,
        (id) => [inData(id, '"action":"credit"', '"action":"debit"')],
        ['approval', 2, /makes no balance-credited/],
      ],
      [
        'another number of gifts',
        () => approved('/users/7/bag', { decoration_id: 3, quantity: 6, reason: 'x' }),
        (id) => [inData(id + 2, '"quantity":6', '"quantity":7')],
        ['approval', 1, /user:7:bag:3 by 7, .* 6$/],
      ],
      [
        'another user of a card',
        () => approved('/users/7/cards', { privilege_package_id: 1, quantity: 2, reason: 'x' }),
        (id) => [inData(id + 3, '"user_id":7', '"user_id":8')],
        ['approval', 1, /user:8:cards by 1, .* 0$/],
      ],
      [
        'another deposit',
        file('2026-06'),
        (id) => [update(id + 3, `amount = '{499,100}'`)],
        ['approval', 1, /user:8:dollars by 499, .* 500$/],
      ],
      [
        'another period',
        file('2026-09'),
        (id) => [inData(id + 3, '2026-09', '2026-11')],
        ['approval', 3, /for period:2026-09, not for 2026-11/],
      ],
      // The last, as it is the end of the ledger.
      [
        'no effect',
        credited,
        (id) => [`delete from ledger_events where position = ${id + 2}`, `update ledger_head set position = ${id + 1}`],
        ['approval', 1, /1 events of its effect are missing/],
      ],
    ]
    const ids: number[] = []
    for (const [, make] of cases) ids.push(await make())
    t.same((await verifyDatabase(database)).findings, [])
    await tamper(
      database,
      'create table kept as select * from ledger_events',
      'create table kept_head as select * from ledger_head',
    )
    const unnoticed: string[] = []
    // A few at a time, as a verification ends after 20 findings.
    for (let first = 0; first < cases.length; first += 4) {
      const forged = cases.slice(first, first + 4).map((one, i) => [ids[first + i] ?? 0, ...one] as const)
      await tamper(database, ...forged.flatMap(([id, , , forge]) => forge(id)))
      await rechain(database)
      const { findings } = await verifyDatabase(database)
      for (const [id, what, , , [check, offset, message = /./]] of forged) {
        const isFound = findings.some(
          (found) => found.check === check && found.position === id + offset && message.test(found.message),
        )
        if (!isFound) unnoticed.push(`${what}: ${JSON.stringify(findings)}`)
      }
      await tamper(
        database,
        'delete from ledger_events',
        'insert into ledger_events select * from kept',
        'update ledger_head h set position = k.position, hash = k.hash from kept_head k',
      )
    }
    t.same(unnoticed, [])
    t.same((await verifyDatabase(database)).findings, [])
  })

  await t.test(
    'a proposal that no verb accepts any more is shown, and can be rejected; after seven days any is over',
    async (t) => {
      const move = { currency: 'coins', amount: 1, reason: 'x' }
      const old = dataOf(await operator('POST', credits, move)).id
      const { id } = dataOf(await operator('POST', credits, move))
      // As an older version may have made it.
      await tamper(
        database,
        `update ledger_events set data = replace(data, '"user_id":7', '"receiver":7') where position = ${old}`,
        `update proposals set input = replace(input, '"user_id":7', '"receiver":7') where proposal_id = ${old}`,
      )
      await rechain(database)
      await ledger.executor.close()
      const next = await createTestApp(t, slices, { database })
      t.match(dataOf(await next.operator('GET', '/admin/v1/proposals')), [
        { id, refusal: null },
        { id: old, status: 'open', effects: [], refusal: 'validation_failed' },
      ])
      t.match(dataOf(await next.operator('GET', path(old))), { refusal: 'validation_failed' })
      t.match(await next.staff('ben')('POST', path(old, 'approve')), {
        status: 422,
        body: { code: 'validation_failed' },
      })
      t.match(await next.staff('ben')('POST', path(old, 'reject')), {
        status: 200,
        body: { data: { status: 'rejected' } },
      })

      // As a batch of its own, so that the executor sees it.
      await queryRows(database, `update ledger_head set at = at + interval '168 hours', batch = gen_random_uuid()`)
      const over = { id, status: 'expired', effects: [], decided_by: 'system', note: null }
      t.match(dataOf(await next.operator('GET', path(id))), over)
      t.match(dataOf(await next.operator('GET', '/admin/v1/proposals?status=expired'))[0], over)
      t.same(dataOf(await next.operator('GET', '/admin/v1/proposals?status=open')), [])
      t.match(await next.staff('ben')('POST', path(id, 'approve')), { status: 422, body: { code: 'proposal_closed' } })
      const before = dataOf(await next.operator('GET', path(id)))
      const db = readDb(t, database)
      const overdue = await findOverdueProposals(db, 50)
      t.ok(overdue.includes(id))
      t.equal(await next.ledger.runOk(expireProposals, { candidates: overdue }), overdue.length)
      t.equal(await next.ledger.runOk(expireProposals, { candidates: overdue }), 0)
      t.same(dataOf(await next.operator('GET', path(id))), before, 'the event changes nothing that is shown')
      t.same(await findOverdueProposals(db, 50), [])
      t.same((await verifyDatabase(database)).findings, [])
      t.same(next.ledger.bugs, [])
    },
  )
  t.same(ledger.bugs, [])
})
