import { test } from 'tap'
import { rebuild } from '../../../src/audit/rebuild/rebuild.ts'
import { eraseUser } from '../../../src/erasure/erase-user.ts'
import { notifier } from '../../../src/slices.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { agencyApp, cash, dataOf, gold, requests, transfers } from '../agency/agency-fixture.ts'

const inbox = '/api/v1/notifications'

interface Inbox {
  readonly data: readonly { readonly id: number; readonly body: string; readonly read_at: string | null }[]
  readonly meta: { readonly next_cursor: string | null; readonly unread: number }
}

/** User 4 has six notifications, user 1 three, user 2 one. */
async function inboxApp(t: Parameters<typeof agencyApp>[0]) {
  const all = await agencyApp(t)
  const { user, operator, database } = all
  await operator('PUT', '/admin/v1/privilege-packages/1', { name: 'Gold', rank: 1, valid_days: 30 })
  const granted = { privilege_package_id: 1, quantity: 1, reason: 'x' }
  const [card] = dataOf(await operator('POST', '/admin/v1/users/1/cards', granted))
  await user(1)('POST', `/api/v1/privilege-wallet/${card.id}/transfer`, { receiver_id: 4 })
  await user(1)('POST', `${transfers}/request`, { dollars: 1, user_id: 4 })
  await user(1)('POST', `${transfers}/request`, { dollars: 1, user_id: 1 })
  const secrets = { user_notice: 'a private notice' }
  const { id: first } = dataOf(await user(1)('POST', `${requests}/request`, { ...gold, ...secrets }))
  await user(4)('POST', `${requests}/${first}/status`, { status: 'approved', note: 'a private note' })
  await operator('POST', `/admin/v1/withdrawals/${first}/status`, { status: 'transferred' })
  const { id: second } = dataOf(await user(1)('POST', `${requests}/request`, gold))
  await user(1)('POST', `${requests}/${second}/status`, { status: 'rejected' })
  const third = dataOf(await user(2)('POST', `${requests}/request`, { ...cash, agent_benefit: 1 }))
  await user(7)('POST', `${requests}/${third.id}/status`, { status: 'rejected' })
  return {
    ...all,
    first: Number(first),
    second: Number(second),
    db: readDb(t, database),
    list: async (id: number, query = '', headers = {}): Promise<Inbox> =>
      Object((await user(id)('GET', `${inbox}${query}`, undefined, headers)).body),
    mark: async (id: number, up_to: number, headers = {}): Promise<unknown> =>
      (await user(id)('POST', `${inbox}/read`, { up_to }, headers)).body,
  }
}

test('an inbox', async (t) => {
  const { list, mark, user, operator, first, second, db, database, ledger } = await inboxApp(t)

  await t.test('everybody reads what concerns them, newest first, page by page', async (t) => {
    const whole = await list(4)
    t.same(
      whole.data.map(({ body }) => body),
      [
        'User 1 cancelled the withdrawal request for 20 dollars.',
        'User 1 sent you a withdrawal request for 20 dollars.',
        'The withdrawal of 20 dollars that User 1 requested from you was transferred.',
        'User 1 sent you a withdrawal request for 20 dollars.',
        'User 1 sent you 13,000 diamonds.',
        'User 1 sent Gold to your privilege wallet.',
      ],
    )
    t.same(whole.meta, { next_cursor: null, unread: 6 })
    t.match(whole.data[3], {
      id: first,
      title: 'New withdrawal request',
      type: 'withdrawal',
      identifier: 'agency-withdrawal',
      withdrawal_id: first,
      created_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
      read_at: null,
    })
    t.notOk('withdrawal_id' in Object(whole.data[5]))
    t.same(
      (await list(1)).data.map(({ body }) => body),
      ['Your withdrawal of 20 dollars was transferred.', 'User 4 approved your withdrawal of 20 dollars.'],
    )
    t.match((await list(2)).data, [{ body: 'User 7 rejected your withdrawal of 20 dollars.' }])
    t.same(await list(9), { data: [], meta: { next_cursor: null, unread: 0 } })

    const pages: number[][] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { data, meta } = await list(4, `?limit=4&cursor=${cursor}`)
      pages.push(data.map(({ id }) => id))
      t.equal(meta.unread, 6)
      cursor = meta.next_cursor
    }
    const ids = whole.data.map(({ id }) => id)
    t.same(pages, [ids.slice(0, 4), ids.slice(4)])
    t.same(
      ids,
      ids.toSorted((a, b) => b - a),
    )
    t.same((await user(4)('GET', '/v1/notifications')).body, whole, 'under the other prefix')
    for (const query of ['limit=0', 'limit=201', 'cursor=!', 'cursor=MS4x']) {
      t.match(await user(4)('GET', `${inbox}?${query}`), { status: 422, body: { code: 'validation_failed' } }, query)
    }
    t.same((await verifyDatabase(database)).findings, [])
  })

  await t.test('a page continues after notifications that can no longer be rendered', async (t) => {
    const whole = await list(4)
    await queryRows(
      database,
      'insert into notifications select 4, position, 100 + position from ledger order by position desc limit 2',
    )
    const first = await list(4, '?limit=2')
    t.same(first.data, [])
    t.same((await list(4, `?limit=6&cursor=${first.meta.next_cursor}`)).data, whole.data)
    t.same((await list(4)).data, whole.data)
    await queryRows(database, 'delete from notifications where number > 100')
  })

  await t.test('in the language of the request, with names as they are', async (t) => {
    const arabic = 'وصلك امتياز \u2068Gold\u2069 من \u2068User 1\u2069، وتجده في محفظة امتيازاتك.'
    t.equal((await list(4, '', { 'accept-language': 'ar' })).data[5]?.body, arabic)
    t.equal((await list(4, '?lang=ar', { 'accept-language': 'en' })).data[5]?.body, arabic)
    await operator('PUT', '/admin/v1/users/1', { name: 'Amina' })
    t.equal((await list(4)).data[5]?.body, 'Amina sent Gold to your privilege wallet.')
  })

  await t.test('notifications are marked as read up to one, once for each key', async (t) => {
    const readAt = async (): Promise<(string | null)[]> => (await list(4)).data.map(({ read_at }) => read_at)
    t.same(await mark(4, 1), { meta: { unread: 6 } }, 'older than all of them')
    const key = { 'idempotency-key': 'mark' }
    t.same(await mark(4, first, key), { meta: { unread: 3 } }, 'it and all older ones')
    const [, , , marked, ...older] = await readAt()
    t.match(marked, /^\d{4}-.+Z$/)
    t.same(older, [marked, marked])
    t.same(await mark(4, first - 1), { meta: { unread: 3 } }, 'never lower')
    t.same(await mark(4, second), { meta: { unread: 1 } })
    const after = await readAt()
    t.same(after.slice(3), [marked, marked, marked], 'when they were read does not change')
    t.match(after.slice(0, 3), [null, String, String])
    t.same(
      await queryRows(database, 'select up_to from notification_reads where user_id = 4 order by up_to'),
      [{ up_to: String(first) }, { up_to: String(second) }],
      'a mark that changes nothing is not recorded',
    )
    const again = await user(4)('POST', '/v1/notifications/read', { up_to: first }, key)
    t.match(again, { status: 200, body: { meta: { unread: 3 } }, headers: { 'idempotency-replayed': 'true' } })
    t.match(await mark(4, second, key), { code: 'idempotency_key_reused' })
    t.same(await mark(4, Number.MAX_SAFE_INTEGER), { meta: { unread: 0 } }, 'beyond the ledger: all there are')
    t.notOk((await readAt()).includes(null))
    t.equal((await list(1)).meta.unread, 2, 'those of others are not marked')
    t.same(await mark(9, second), { meta: { unread: 0 } })

    await user(1)('POST', `${transfers}/request`, { dollars: 1, user_id: 4 })
    t.match(await list(4), { meta: { unread: 1 }, data: [{ read_at: null }] }, 'what comes later is unread')
    const marks = await Promise.all([second, first, Number.MAX_SAFE_INTEGER, 1].map((up_to) => mark(4, up_to)))
    t.same(marks.at(2), { meta: { unread: 0 } })
    t.equal((await list(4)).meta.unread, 0, 'at once')
    for (const body of [{}, { up_to: 0 }, { up_to: '1' }, { up_to: 1.5 }, { up_to: null }]) {
      t.match(await user(4)('POST', `${inbox}/read`, body), { status: 422, body: { code: 'validation_failed' } })
    }
    t.same((await verifyDatabase(database)).findings, [])
  })

  await t.test('who was erased has no name in the inboxes of others, and what they read is gone', async (t) => {
    await user(3)('POST', `${transfers}/request`, { dollars: 1, user_id: 4 })
    await user(4)('POST', `${transfers}/request`, { dollars: 1, user_id: 3 })
    await user(1)('POST', `${transfers}/request`, { dollars: 1, user_id: 3 })
    await mark(3, Number.MAX_SAFE_INTEGER)
    await mark(4, Number.MAX_SAFE_INTEGER)
    await eraseUser(ledger.executor, db, 3, { actor: 'staff:root', revocationDelayMs: 0, notifier })
    t.equal((await list(4)).data[0]?.body, 'Somebody sent you 13,000 diamonds.')
    t.equal((await list(4, '', { lang: 'ar' })).data[0]?.body, 'وصلتك 13,000 ماسة.')
    for (const table of ['notification_marks', 'notification_reads']) {
      t.same(await queryRows(database, `select from ${table} where user_id = 3`), [], table)
      t.not((await queryRows(database, `select from ${table} where user_id = 4`)).length, 0, table)
    }
    t.same((await verifyDatabase(database)).findings, [])
  })

  await t.test('a rebuild lists the same, and keeps what was read', async (t) => {
    const before = await list(4)
    await queryRows(database, 'delete from notifications where user_id = 4')
    await queryRows(database, 'delete from notification_counts where user_id = 4')
    t.equal((await verifyDatabase(database)).findings.length, before.data.length + 1)
    const options = { progress: () => {}, signal: new AbortController().signal }
    await rebuild(database.ownerUrl, options)
    t.same(await list(4), before)
    t.same((await verifyDatabase(database)).findings, [])
    await user(1)('POST', `${transfers}/request`, { dollars: 1, user_id: 4 })
    t.equal((await list(4)).meta.unread, before.meta.unread + 1)
  })
  t.same([...ledger.bugs, ...ledger.failures], [])
})
