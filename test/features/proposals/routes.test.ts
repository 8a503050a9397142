import { test } from 'tap'
import { eraseProfile } from '../../../src/erasure/erase-profile.ts'
import { expireProposals } from '../../../src/features/proposals/decide.ts'
import { findOverdueProposals } from '../../../src/features/proposals/reads.ts'
import { erasedUid } from '../../../src/features/users/user.ts'
import { rechain, tamper, verifyDatabase } from '../../audit/verify-database.ts'
import { decideProposal } from '../../harness/app/decide-proposal.ts'
import { createTestApp, readDb, type SendRequest } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { dataOf } from '../answers.ts'

const credits = '/admin/v1/users/7/credits'
const path = (id: number): string => `/admin/v1/proposals/${id}`

test('proposals', async (t) => {
  const { operator, staff, user, database, ledger } = await createTestApp(t, { approvalLimits: { coins: 100 } })
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
      amounts: [{ currency: 'coins', amount: 60 }],
      reason: 'a prize',
      rows_count: 1,
      not_paid: [],
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

    t.match(await decideProposal(staff('fin', 'finance'), id, 'approve'), { status: 403, body: { code: 'forbidden' } })
    t.match(await decideProposal(operator, id, 'approve'), { status: 403, body: { code: 'own_proposal' } })
    const approved = await decideProposal(staff('ben'), id, 'approve', { note: 'as agreed' })
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
    t.match(await decideProposal(staff('cem'), id, 'approve'), { status: 422, body: { code: 'proposal_closed' } })
    t.match(await decideProposal(operator, id, 'reject'), { status: 422, body: { code: 'proposal_closed' } })
    t.match(await decideProposal(operator, 999, 'approve'), { status: 404 })
    t.same(dataOf(await operator('GET', path(id))), dataOf(approved), 'what it moved is kept')

    const events = await queryRows(
      database,
      `select type, actor, data, request_id from ledger where position >= ${id} order by position`,
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
    const answers = await Promise.all(approvers.map((sub) => decideProposal(staff(sub), id, 'approve', {}, key)))
    t.equal(answers.filter(({ status }) => status === 200).length, 1)
    t.equal(answers.filter(({ status }) => status === 422).length, 3)
    for (const [i, sub] of approvers.entries()) {
      const retried = await decideProposal(staff(sub), id, 'approve', {}, key)
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
    const debit = { currency: 'coins', amount: 100, reason: 'x' }
    const { id } = dataOf(await maker('POST', `${own}/debits`, debit))
    t.equal((await staff('cem')('POST', `${own}/debits`, { ...debit, amount: 30 })).status, 201)
    t.match(dataOf(await maker('GET', path(id))), { status: 'open', effects: [], refusal: 'insufficient_balance' })
    const refused = await decideProposal(staff('ben'), id, 'approve')
    t.match(refused, { status: 422, body: { code: 'insufficient_balance' } })
    t.equal((await staff('cem')('POST', `${own}/credits`, { ...debit, amount: 30 })).status, 201)
    t.match(await decideProposal(staff('ben'), id, 'approve'), { status: 200, body: { data: { status: 'approved' } } })

    const other = dataOf(await maker('POST', `${own}/credits`, debit)).id
    const rejected = await decideProposal(maker, other, 'reject', { note: 'a mistake' })
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
    t.match(await decideProposal(staff('ben'), other, 'approve'), { status: 422, body: { code: 'proposal_closed' } })
    t.match(await decideProposal(staff('ben'), other, 'reject', { note: 'x'.repeat(501) }), {
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
    await decideProposal(staff('ben'), target, 'approve')
    const requests: readonly (readonly [url: string, body: object, shown: object])[] = [
      [
        '/users/10/debits',
        { currency: 'target', amount: 4, reason },
        { action: 'debit', subject: 'user:10', amounts: [{ currency: 'target', amount: 4 }] },
      ],
      [
        '/users/10/cards',
        { privilege_package_id: 1, quantity: 2, reason },
        {
          action: 'cards',
          amounts: [{ currency: 'cards', amount: 2 }],
          effects: [{ account: 'user:10:cards', before: 0, after: 2 }],
        },
      ],
      [
        '/users/10/bag',
        { decoration_id: 3, quantity: 6, reason },
        {
          action: 'bag',
          // Diamonds of value.
          amounts: [{ currency: 'bag', amount: 30 }],
          effects: [{ account: 'user:10:bag:3', before: 0, after: 6 }],
        },
      ],
      [
        '/salary-deposits',
        { period: '2026-10', deposits },
        {
          action: 'salary_file',
          subject: 'period:2026-10',
          amounts: [
            { currency: 'dollars', amount: 12.5 },
            { currency: 'agent_dollars', amount: 1 },
          ],
          reason: null,
          rows_count: 2,
          not_paid: [{ user_id: 999, code: 'unknown_user' }],
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
      t.equal((await decideProposal(staff('ben'), dataOf(proposed).id, 'approve')).status, 200, url)
    }
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
    t.equal((await decideProposal(user(7), target, 'approve')).status, 403)
  })

  await t.test('a decision names the version that was read, and what is wrong is said in a fixed order', async (t) => {
    const move = { currency: 'dollars', amount: 1, reason: 'x' }
    const ben = staff('ben')
    const { id, version } = dataOf(await operator('POST', '/admin/v1/users/12/credits', move))
    const other = dataOf(await operator('POST', '/admin/v1/users/12/credits', { ...move, amount: 2 })).version
    t.not(version, other)
    const another = dataOf(await operator('POST', '/admin/v1/users/11/credits', move)).version
    t.not(version, another, 'the same sum for another person')
    t.equal((await ben('GET', path(id))).headers['etag'], `"${version}"`)
    t.equal((await ben('GET', path(id), undefined, { 'accept-language': 'ar' })).headers['etag'], `"${version}"`)
    const missing = { status: 428, body: { code: 'version_required' } }
    const failed = { status: 412, body: { code: 'precondition_failed' } }
    for (const verb of ['approve', 'reject']) {
      const decide = (send: SendRequest, body: object, match?: string) =>
        send('POST', `${path(id)}/${verb}`, body, match === undefined ? {} : { 'if-match': match })
      t.match(await ben('POST', `${path(999_999)}/${verb}`, {}), { status: 404 }, 'no such proposal first')
      t.match(await staff('fin', 'finance')('POST', `${path(id)}/${verb}`, {}), { status: 403 })
      if (verb === 'approve') t.match(await decide(operator, {}), { status: 403, body: { code: 'own_proposal' } })
      const rows: readonly (readonly [body: object, match: string | undefined, expected: object])[] = [
        [{}, undefined, missing],
        [{ version: null }, undefined, missing],
        [{ version: '' }, '', missing],
        [{ version: '*' }, `"${version}"`, missing],
        [{ version: `${version}, ${other}` }, undefined, missing],
        [{}, '*', missing],
        [{ version }, '*', missing],
        [{}, `"${version}", "${other}"`, missing],
        [{ version: other }, undefined, failed],
        [{}, `"${other}"`, failed],
        [{}, `W/"${version}"`, failed],
        [{ version }, `"${other}"`, failed],
        [{ version: other }, `"${version}"`, failed],
      ]
      for (const [body, match, expected] of rows)
        t.match(await decide(ben, body, match), expected, `${verb} ${JSON.stringify(body)} ${match}`)
    }
    const key = { 'idempotency-key': 'after a 412' }
    t.match(await ben('POST', `${path(id)}/approve`, {}, key), missing)
    t.match(await ben('POST', `${path(id)}/approve`, { version: other }, key), failed)
    const done = await ben('POST', `${path(id)}/approve`, { version }, { ...key, 'if-match': `"${version}"` })
    t.match(done, { status: 200, body: { data: { status: 'approved', version } } }, '412 and 428 are not remembered')
    const again = await ben('POST', `${path(id)}/approve`, { version }, { ...key, 'if-match': `"${version}"` })
    t.match([again.text, again.headers['idempotency-replayed']], [done.text, 'true'])
    t.match(await ben('POST', `${path(id)}/approve`, {}), missing, 'also of a closed one')
    const closed = { status: 422, body: { code: 'proposal_closed' } }
    t.match(await ben('POST', `${path(id)}/reject`, { version: other }), closed, 'before another version')
  })

  await t.test(
    'what would do something else than it showed is not done, and stays open as it would be now',
    async (t) => {
      const ben = staff('ben')
      const days = (valid_days: number, rank: number) =>
        operator('PUT', '/admin/v1/privilege-packages/1', { name: 'P', rank, valid_days })
      // No bag holds this gift.
      const price = (diamonds: number) => operator('PUT', '/admin/v1/decorations/5', { price: diamonds })
      await operator('PUT', '/admin/v1/decorations/5', { name: 'K', kind: 'standard', price: 5, image_path: 'k.png' })
      const cases = [
        {
          made: { url: '/users/12/cards', body: { privilege_package_id: 1, quantity: 2, reason: 'x' } },
          changes: [() => days(36_500, 9_999), () => days(36_500, 1), () => days(10, 1)],
          amounts: [{ currency: 'cards', amount: 2 }],
        },
        {
          made: { url: '/users/12/bag', body: { decoration_id: 5, quantity: 5, reason: 'x' } },
          changes: [() => price(7), () => price(4), () => price(5)],
          amounts: [{ currency: 'bag', amount: 25 }],
        },
      ]
      for (const { made, changes, amounts } of cases) {
        const proposed = dataOf(await operator('POST', `/admin/v1${made.url}`, made.body))
        const { id } = proposed
        t.match(proposed, { amounts })
        let { version } = proposed
        const key = { 'idempotency-key': made.url }
        for (const change of changes) {
          await change()
          const kept = dataOf(await ben('GET', path(id)))
          t.match(kept, { status: 'open', version, refusal: 'proposal_changed' }, 'it keeps what it showed')
          const changed = await ben('POST', `${path(id)}/approve`, { version }, key)
          t.match(changed, {
            status: 412,
            body: { code: 'proposal_changed', data: { id, status: 'open', refusal: null } },
          })
          const now = dataOf(changed)
          t.not(now.version, version)
          t.same(dataOf(await ben('GET', path(id))), now)
          t.match(await ben('POST', `${path(id)}/approve`, { version }), { body: { code: 'precondition_failed' } })
          t.match(dataOf(await ben('GET', '/admin/v1/proposals?status=open'))[0], { id, version: now.version })
          version = now.version
        }
        t.equal(version, proposed.version, 'the same again is the same version')
        await changes[0]?.()
        await changes.at(-1)?.()
        const name = { name: { en: 'Q', ar: 'ق' } }
        await operator('PUT', '/admin/v1/privilege-packages/1', name)
        await operator('PUT', '/admin/v1/decorations/5', name)
        t.equal(dataOf(await ben('GET', path(id))).version, version, 'names are no part of it')
        t.match(await ben('POST', `${path(id)}/approve`, { version }, key), {
          status: 200,
          body: { data: { status: 'approved', amounts } },
        })
      }
      const granted = await queryRows(database, 'select distinct valid_days from privilege_cards where owner_id = 12')
      t.same(granted, [{ valid_days: '10' }])
    },
  )

  await t.test('a price that makes what lies in bags worth more than the limit is proposed', async (t) => {
    const ben = staff('ben')
    const gift = '/admin/v1/decorations/4'
    const bag = (quantity: number) =>
      operator('POST', '/admin/v1/users/12/bag', { decoration_id: 4, quantity, reason: 'x' })
    const put = (body: object, headers = {}) => operator('PUT', gift, body, headers)
    const priceOf = async () => dataOf(await ben('GET', gift)).price
    t.match(await put({ name: 'H', kind: 'standard', price: 9, image_path: 'h.png' }), { status: 200 })
    t.match(await put({ price: 2 }), { status: 200 }, 'no bag holds any')
    await decideProposal(ben, dataOf(await bag(5)).id, 'approve')
    t.match(await put({ price: 1, image_path: 'i.png' }), { status: 200 }, 'what lies in bags is worth less')
    const { etag } = (await ben('GET', gift)).headers
    const whole = { name: 'H', kind: 'standard', price: 1_000_000_000, image_path: 'i.png' }
    t.match(await put({ ...whole, image_path: 'x.png' }), {
      status: 422,
      body: { code: 'validation_failed', errors: { price: [/is changed alone/] } },
    })
    const raised = await put(whole, { 'if-match': etag })
    t.match(raised, {
      status: 202,
      body: {
        data: {
          action: 'price_raise',
          subject: 'decoration:4',
          amounts: [{ currency: 'bag', amount: 4_999_999_995 }],
          effects: [{ account: 'decoration:4:price', before: 1, after: 1_000_000_000 }],
        },
      },
    })
    const { id, version } = dataOf(raised)
    const approve = (body: object) => ben('POST', `${path(id)}/approve`, body)
    t.equal(await priceOf(), 1)
    t.match(await put({ image_path: 'j.png' }), { status: 200 }, 'everything else is not covered')
    // One more in the bags would be worth more than what was shown.
    await decideProposal(ben, dataOf(await bag(1)).id, 'approve')
    const changed = await approve({ version })
    t.match(changed, { status: 412, body: { code: 'proposal_changed' } })
    t.match(dataOf(changed).amounts, [{ currency: 'bag', amount: 5_999_999_994 }])
    t.not(dataOf(changed).version, version, 'the same price, but more of it')
    const room = { uid: 'R5', name: 'R', owner_id: 7 }
    await operator('PUT', '/admin/v1/rooms/5', room)
    const sent = { u_id: 12, decoration_id: 4, user_id: [7], quantity: 2, room_id: 'R5', is_bag: true }
    t.equal((await user(12)('POST', '/api/v1/instant-send', sent)).status, 200)
    const approved = await approve({ version: dataOf(changed).version })
    t.match(approved, { status: 200, body: { data: { status: 'approved' } } }, 'less lies in bags now')
    t.equal(await priceOf(), 1_000_000_000)
    t.equal(dataOf(await ben('GET', gift)).image_path, 'j.png', 'what was changed meanwhile stays')
    const twice = dataOf(await put({ price: 2_000_000_000, image_path: 'j.png' }))
    t.match(await put({ image_path: 'k.png' }), { status: 200 })
    await decideProposal(ben, dataOf(await put({ price: 2_000_000_000 })).id, 'approve')
    t.match(await decideProposal(ben, twice.id, 'approve'), { status: 422, body: { code: 'nothing_to_do' } })
    t.same((await verifyDatabase(database)).findings, [])
    await operator('POST', `${path(twice.id)}/reject`, { version: twice.version })
  })

  await t.test('a salary file pays only rows that it proposed, and no erased person is paid', async (t) => {
    const ben = staff('ben')
    const row = { dollars: 75, agent_dollars: 0 }
    const rows = [201, 202, 203, 204].map((user_id) => ({ user_id, ...row }))
    await operator('POST', '/admin/v1/users', { users: [201, 202, 203].map((id) => ({ id, name: `U${id}` })) })
    const deposit = (period: string, deposits: readonly object[]) =>
      operator('POST', '/admin/v1/salary-deposits', { period, deposits })
    const proposed = dataOf(await deposit('2026-03', rows))
    const { id, version } = proposed
    t.match(proposed, { amounts: [{ currency: 'dollars', amount: 225 }], rows_count: 4 })
    // The missing user is announced, one is paid otherwise, and one is erased.
    await operator('POST', '/admin/v1/users', { users: [{ id: 204 }] })
    const first = dataOf(await deposit('2026-03', rows.slice(0, 1)))
    await decideProposal(ben, first.id, 'approve')
    const grant = { decoration_id: 3, quantity: 1, reason: 'x' }
    const alone = dataOf(await operator('POST', '/admin/v1/users/202/bag', grant))
    const erased = { user_id: 202, new_uid: erasedUid('0'.repeat(32)), withdrawal_ids: [], devices: [] }
    await ledger.runOk(eraseProfile, erased)
    const not_paid = [
      { user_id: 204, code: 'unknown_user' },
      { user_id: 201, code: 'already_paid' },
      { user_id: 202, code: 'user_forgotten' },
    ]
    const effects = [{ account: 'issuance:salary:dollars' }, { account: 'user:203:dollars', before: 0, after: 75 }]
    const shown = dataOf(await ben('GET', path(id)))
    t.match(shown, { not_paid, version, refusal: null, effects })
    t.equal(shown.effects.length, effects.length, 'nothing of rows that are not paid')
    t.match((await ben('GET', `${path(id)}/effects?limit=1`)).body, {
      data: [effects[0]],
      meta: { next_cursor: String },
    })
    const approved = await ben('POST', `${path(id)}/approve`, { version })
    t.match(approved, {
      status: 200,
      body: {
        data: {
          version,
          not_paid,
          effects,
        },
      },
    })
    const paid = await queryRows(database, `select user_id from salary_deposits where period = '2026-03' order by 1`)
    t.same(paid, [{ user_id: '201' }, { user_id: '203' }])
    t.match(dataOf(await ben('GET', path(alone.id))), { refusal: 'user_forgotten' })
    const forgotten = { status: 422, body: { code: 'user_forgotten' } }
    t.match(await decideProposal(ben, alone.id, 'approve'), forgotten)
    t.match(dataOf(await ben('GET', path(alone.id))), { status: 'open' })
    t.match(await decideProposal(ben, alone.id, 'reject'), { status: 200 })
    const only = await deposit('2026-04', [{ user_id: 202, ...row }])
    t.match(only, { status: 201, body: { data: { paid: [], refused: [{ user_id: 202, code: 'user_forgotten' }] } } })
    t.same((await verifyDatabase(database)).findings, [])
  })

  await t.test('a long file is listed by its sums, and its effects come in pages', async (t) => {
    const ids = Array.from({ length: 120 }, (_, i) => 300 + i)
    await operator('POST', '/admin/v1/users', { users: ids.map((id) => ({ id })) })
    const deposits = ids.map((user_id) => ({ user_id, dollars: 2, agent_dollars: 1 }))
    const proposed = dataOf(await operator('POST', '/admin/v1/salary-deposits', { period: '2026-02', deposits }))
    const { id } = proposed
    const amounts = [
      { currency: 'dollars', amount: 240 },
      { currency: 'agent_dollars', amount: 120 },
    ]
    t.match(proposed, { amounts, rows_count: 120, not_paid: [] })
    t.equal(proposed.effects.length, 50)
    const [listed] = dataOf(await operator('GET', '/admin/v1/proposals?status=open&limit=1'))
    t.match(listed, { id, version: proposed.version, amounts, rows_count: 120, effects: [] })
    const effectsOf = async () => {
      const effects: object[] = []
      for (let cursor = ''; ; ) {
        const page = await operator('GET', `${path(id)}/effects?limit=100&cursor=${cursor}`)
        effects.push(...dataOf(page))
        cursor = Object(page.body).meta.next_cursor
        if (cursor === null) return effects
      }
    }
    const open = await effectsOf()
    t.equal(open.length, 242)
    t.same(open.slice(0, 50), proposed.effects)
    const approved = dataOf(await decideProposal(staff('ben'), id, 'approve'))
    t.equal(approved.effects.length, 50)
    t.same(await effectsOf(), open, 'what was done is what was shown')
    t.equal((await operator('GET', `${path(999_999)}/effects`)).status, 404)
    const short = dataOf(
      await operator('POST', '/admin/v1/users/12/bag', { decoration_id: 3, quantity: 5, reason: 'x' }),
    )
    t.same(dataOf(await operator('GET', `${path(short.id)}/effects`)), short.effects)
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
      const points = await operator('POST', '/admin/v1/users/11/credits', move)
      await decideProposal(staff('ben'), dataOf(points).id, 'approve')
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
      t.equal(other.rows_count, 1)
      // Points that are spent between proposal and approval.
      const debit = dataOf(await operator('POST', '/admin/v1/users/11/debits', { ...move, amount: 5 }))
      t.same(debit.not_paid, [], 'only of a file')
      await decideProposal(staff('ben'), debit.id, 'approve')
      const now = [...rows, { user_id: 11, code: 'insufficient_balance' }]
      t.match(dataOf(await operator('GET', path(id))), { not_paid: now, refusal: 'nothing_to_do', rows_count: 4 })
      t.match(await decideProposal(staff('ben'), id, 'approve'), { status: 422, body: { code: 'nothing_to_do' } })
      t.match(dataOf(await operator('GET', path(id))), { status: 'open' }, 'what cannot be paid stays open')
      const rejected = dataOf(await decideProposal(operator, other.id, 'reject'))
      t.match(rejected, { status: 'rejected', not_paid: [{ user_id: 11, code: 'insufficient_balance' }] })
      t.same(dataOf(await operator('GET', path(other.id))), rejected)
    },
  )

  await t.test('verify finds approvals and effects that are forged, although all hashes were recomputed', async (t) => {
    const approved = async (url: string, body: object): Promise<number> => {
      const { id } = dataOf(await operator('POST', `/admin/v1${url}`, body))
      t.equal((await decideProposal(staff('ben'), id, 'approve')).status, 200)
      return id
    }
    const update = (position: number, set: string) => `update shown_events set ${set} where position = ${position}`
    const inData = (position: number, from: string, to: string) =>
      update(position, `data = replace(data, '${from}', '${to}')`)
    const credited = () => approved('/users/7/credits', { currency: 'coins', amount: 5, reason: 'x' })
    const file = (period: string) => {
      const deposits = [7, 8].map((user_id) => ({ user_id, dollars: 5, agent_dollars: 1 }))
      return () => approved('/salary-deposits', { period, deposits })
    }

    let { price } = dataOf(await operator('GET', '/admin/v1/decorations/3'))
    const raised = async (): Promise<number> => {
      const { id } = dataOf(await operator('PUT', '/admin/v1/decorations/3', { price: (price += 1) }))
      t.equal((await decideProposal(staff('ben'), id, 'approve')).status, 200)
      return id
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
        'another picture with a price',
        raised,
        (id) => [inData(id + 2, 'g.png', 'x.png')],
        ['approval', 2, /of the price of gift 3 alone$/],
      ],
      [
        'a higher price',
        raised,
        (id) => [
          update(id + 2, `data = regexp_replace(data, '"price":\\d+', '"price":70000')`),
          update(id + 1, `data = regexp_replace(data, '"after":\\d+', '"after":70000')`),
        ],
        ['approval', 1, /of bag, but proposal \d+ is of \d+$/],
      ],
      [
        'cards of more days',
        () => approved('/users/7/cards', { privilege_package_id: 1, quantity: 2, reason: 'x' }),
        (id) => [inData(id + 3, '"valid_days":10', '"valid_days":36500')],
        ['approval', 3, /of cards of 10 days$/],
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
        'a deposit that was not proposed',
        file('2026-05'),
        (id) => [inData(id, '"user_id":8,"dollars":500', '"user_id":9,"dollars":500')],
        ['approval', 3, /has no such row of user 8$/],
      ],
      [
        'more than was proposed, in what was approved too',
        credited,
        (id) => [inData(id, '"amount":5}]', '"amount":4}]')],
        ['approval', 1, /takes 5 of coins, but proposal \d+ is of 4$/],
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
        `update shown_events set data = replace(data, '"user_id":7', '"receiver":7') where position = ${old}`,
        `update proposal_contents set input = replace(input, '"user_id":7', '"receiver":7') where proposal_id = ${old}`,
      )
      await rechain(database)
      await ledger.executor.close()
      const next = await createTestApp(t, { database })
      t.match(dataOf(await next.operator('GET', '/admin/v1/proposals')), [
        { id, refusal: null },
        { id: old, status: 'open', effects: [], refusal: 'validation_failed' },
      ])
      t.match(dataOf(await next.operator('GET', path(old))), { refusal: 'validation_failed' })
      t.match(await decideProposal(next.staff('ben'), old, 'approve'), {
        status: 422,
        body: { code: 'validation_failed' },
      })
      t.match(await decideProposal(next.staff('ben'), old, 'reject'), {
        status: 200,
        body: { data: { status: 'rejected' } },
      })

      // As a batch of its own, so that the executor sees it.
      await queryRows(database, `update ledger_head set at = at + interval '168 hours', batch = gen_random_uuid()`)
      await queryRows(database, `update passed_time set at = clock_timestamp() + interval '100 hours'`)
      t.match(dataOf(await next.operator('GET', path(id))), { status: 'open' }, 'the time has not really passed')
      t.match(dataOf(await next.operator('GET', '/admin/v1/proposals?status=open')), [{ id }])
      t.same(await findOverdueProposals(readDb(t, database), 50), [])
      t.equal(await next.ledger.runOk(expireProposals, { candidates: [id] }), 0)

      await queryRows(database, `update passed_time set at = clock_timestamp() + interval '168 hours'`)
      const over = { id, status: 'expired', effects: [], decided_by: 'system', note: null }
      t.match(dataOf(await next.operator('GET', path(id))), over)
      t.match(dataOf(await next.operator('GET', '/admin/v1/proposals?status=expired'))[0], over)
      t.same(dataOf(await next.operator('GET', '/admin/v1/proposals?status=open')), [])
      t.match(await decideProposal(next.staff('ben'), id, 'approve'), {
        status: 422,
        body: { code: 'proposal_closed' },
      })
      const before = dataOf(await next.operator('GET', path(id)))
      const db = readDb(t, database)
      const overdue = await findOverdueProposals(db, 50)
      t.ok(overdue.includes(id))
      t.equal(await next.ledger.runOk(expireProposals, { candidates: overdue }), overdue.length)
      t.equal(await next.ledger.runOk(expireProposals, { candidates: overdue }), 0)
      t.same(dataOf(await next.operator('GET', path(id))), before, 'the event changes nothing that is shown')
      t.same(await findOverdueProposals(db, 50), [])
      // Its version is that of the input which it was made with.
      t.match((await verifyDatabase(database)).findings, [{ table: 'proposals', id: String(old) }])
      t.same(next.ledger.bugs, [])
    },
  )
  t.same(ledger.bugs, [])
})
