import { test } from 'tap'
import { main } from '../../scripts/forget.ts'
import { type ErasureSummary, eraseUser, recordRedactedReplies } from '../../src/erasure/erase-user.ts'
import { findRepliesNaming, redactPerson } from '../../src/erasure/personal-rows.ts'
import { genesis } from '../../src/ledger/rules/incarnation.ts'
import { replyKey } from '../../src/ledger/storage/event-hash.ts'
import { notifier } from '../../src/slices.ts'
import { tamper, verifyDatabase } from '../audit/verify-database.ts'
import { bank, cash, requests } from '../features/agency/agency-fixture.ts'
import { dataOf } from '../features/answers.ts'
import { callCommandLine } from '../features/call-command-line.ts'
import { tablesWith } from '../features/tables-with.ts'
import { createTestApp, readDb, type TestApp } from '../harness/app/test-app.ts'
import { isReplyTo, queryRows, testOpening } from '../harness/ledger/test-executor.ts'
import { recordStatements } from '../harness/postgres/record-statements.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

/** Part of all personal data of the erased user: must be found nowhere afterwards. */
const CANARY = 'canary'

interface ErasureSetup extends TestApp {
  readonly db: ReturnType<typeof readDb>
  readonly erase: (user: number, options?: { fails?: boolean }) => Promise<ErasureSummary>
  /** Tables that have a canary, and in how many rows. */
  readonly found: () => Promise<Readonly<Record<string, number>>>
}

/** User 1 with a profile, a device, dollars, a card and room R1, a member of the rooms 2 and 3 of user 3; users 3 and 4, of whom 4 is a business manager. */
async function erasureSetup(t: Parameters<typeof createTestApp>[0]): Promise<ErasureSetup> {
  const open = await createTestApp(t)
  const { operator, user, ledger, database } = open
  await ledger.runOk(genesis, testOpening)
  await operator('POST', '/admin/v1/users', {
    users: [
      { id: 1, uid: `${CANARY}-uid`, name: `${CANARY} name`, avatar: `avatars/${CANARY}.png` },
      { id: 3, name: 'Carmen' },
      { id: 4, name: 'Dina', business_manager: 1 },
    ],
  })
  await operator('PUT', '/admin/v1/countries/1', { name: 'Egypt' })
  await operator('PUT', '/admin/v1/rooms/1', { uid: 'R1', name: 'Lounge', owner_id: 1 })
  for (const id of [2, 3]) await operator('PUT', `/admin/v1/rooms/${id}`, { owner_id: 3 })
  for (const id of [2, 3]) await user(1)('GET', `/v1/rooms/${id}/join`)
  for (const id of [1, 3]) {
    await operator('POST', `/admin/v1/users/${id}/credits`, { currency: 'coins', amount: 500, reason: 'opening' })
    await user(id)('GET', '/v1/rooms/R1/join')
  }
  await operator('POST', '/admin/v1/users/1/credits', { currency: 'dollars', amount: 90, reason: 'opening' })
  await user(1)('POST', '/api/v1/devices', { token: `${CANARY}-device`, platform: 'ios' })
  await user(3)('POST', '/api/v1/devices', { token: 'device-of-3', platform: 'ios' })
  await user(3)('POST', '/api/v1/devices', { token: 'second-of-3', platform: 'ios', language: 'ar' })
  const db = readDb(t, database)
  return {
    ...open,
    db,
    erase: (id, { fails = false } = {}) =>
      eraseUser(ledger.executor, db, id, {
        actor: 'staff:root',
        revocationDelayMs: 0,
        notifier: fails ? () => Promise.reject(new Error('interrupted')) : notifier,
      }),
    found: () => tablesWith(database, CANARY),
  }
}

test("an erased user's data is found nowhere, and verify finds nothing", async (t) => {
  const all = await erasureSetup(t)
  const { operator, user, database, found } = all
  const key = (name: string) => ({ 'idempotency-key': name })

  const secrets = { bank_details: { ...bank, account_name: `${CANARY} account` }, user_notice: `${CANARY} notice` }
  const request = { ...cash, business_manager_id: 4, amount_in_dollars: 20, ...secrets }
  const asked = await user(1)('POST', `${requests}/request`, request, key('request'))
  t.equal(asked.status, 201)
  const { id } = dataOf(asked)
  await t.rejects(all.erase(1), { code: 'withdrawal_open' })
  const note = { status: 'approved', note: `${CANARY} note` }
  t.match(await user(4)('POST', `${requests}/${id}/status`, note, key('approve')), { status: 200 })
  await t.rejects(all.erase(1), { code: 'withdrawal_open' }, 'approved is not paid')
  t.equal((await user(1)('GET', '/v1/wallet')).status, 200, 'nothing happened')
  t.match(await operator('POST', `/admin/v1/withdrawals/${id}/status`, { status: 'transferred' }), { status: 200 })

  // Replies to others, and notifications, that name them.
  const game = dataOf(
    await user(1)('POST', '/v1/rooms/R1/games/roulette/create', { game_price: 10, max_players: 3, join_admin: 1 }),
  )
  const join = () => user(3)('POST', `/v1/rooms/R1/games/roulette/join/${game.id}`, {}, key('join'))
  const joined = await join()
  t.match(dataOf(joined).players[0], { id: 1, name: `${CANARY} name` })
  const package_ = { name: 'Gold', rank: 1, valid_days: 5 }
  await operator('PUT', '/admin/v1/privilege-packages/1', package_)
  const [card] = dataOf(
    await operator('POST', '/admin/v1/users/1/cards', { privilege_package_id: 1, quantity: 1, reason: 'x' }),
  )
  t.equal((await user(1)('POST', `/v1/privilege-wallet/${card.id}/transfer`, { receiver_id: 3 })).status, 200)
  await queryRows(
    database,
    `insert into push_outbox (token, position, user_id, notification)
     select d.token, e.position, d.user_id,
            '{"title":"New privilege","body":"${CANARY} name sent Gold.","type":"reward","identifier":"privilege-package-wallet"}'
     from devices d, ledger_events e where e.type = 'card-moved'`,
  )
  t.same(Object.keys(await found()).sort(), ['devices', 'push_outbox', 'replies', 'user_profiles'])

  await t.rejects(all.erase(1, { fails: true }), { message: 'interrupted' })
  const named = await findRepliesNaming(all.db, 1)
  const noted = named.map(({ key, reply_hash }) => ({ key, reply_hash }))
  t.same(
    noted.map(({ key }) => key).toSorted(),
    [replyKey('user:1', 'request'), replyKey('user:3', 'join'), replyKey('user:4', 'approve')].toSorted(),
  )
  await all.ledger.runOk(recordRedactedReplies, { user_id: 1, replies: noted })
  t.same((await verifyDatabase(database)).findings, [], 'an interruption before they are written changes nothing')
  t.same(await all.erase(1), { records: 0, devices: 0, rooms: 0, replies: 3 })
  t.same(
    await queryRows(database, 'select room_id from room_memberships where user_id = 1'),
    [{ room_id: '1' }],
    'only of their own room they stay a member',
  )
  t.match((await user(3)('GET', '/v1/rooms/R1/members')).body, {
    data: [{ id: 3 }, { id: 1, name: '', avatar: '', avatar_url: '' }],
  })
  t.match((await user(3)('GET', '/v1/rooms/2')).body, { data: { members_count: 1 } })
  t.same(await found(), {})
  t.same(await queryRows(database, 'select user_id from vault_keys'), [], 'what is left in backups cannot be decrypted')
  t.same(
    await queryRows(database, "select user_id, notification::json->>'body' as body from push_outbox order by token"),
    [
      { user_id: '3', body: 'Somebody sent Gold to your privilege wallet.' },
      { user_id: '3', body: 'وصلك امتياز \u2068Gold\u2069، وتجده في محفظة امتيازاتك.' },
    ],
    'each in the language of its device',
  )
  const [{ uid } = {}] = await queryRows(database, 'select uid from user_profiles where user_id = 1')
  t.match(uid, /^forgotten-[0-9a-f]{32}$/)
  const blank = { id: 1, name: '', avatar: '', avatar_url: '', uid }
  t.same(dataOf(await user(3)('GET', '/v1/rooms/R1')).owner, blank)
  t.same(dataOf(await user(3)('GET', '/v1/rooms/R1/games/roulette')).players[0], blank)
  const [shown] = dataOf(await user(4)('GET', `${requests}?received=1`))
  t.match(shown, { id, user: blank, bank_details: null, user_notice: null, note: null, amount_in_dollars: 20 })
  const again = await join()
  t.match(again, { status: 200, headers: { 'idempotency-replayed': 'true' } }, 'a retry still does nothing twice')
  t.same(again.body, JSON.parse(joined.text.replace(/\{"id":1,"name":[^}]+\}/g, JSON.stringify(blank))))
  const revoked = 'select 1 from users where user_id = 1 and sessions_revoked_before > extract(epoch from now()) - 60'
  t.equal((await queryRows(database, revoked)).length, 1, 'their tokens are revoked')

  t.same(await all.erase(1), { records: 0, devices: 0, rooms: 0, replies: 0 }, 'again')
  t.same(await queryRows(database, `select actor, data from ledger where type = 'user-forgotten'`), [
    { actor: 'staff:root', data: '{"user_id":1}' },
  ])
  t.same((await verifyDatabase(database)).findings, [])
  const pot = (from: string, to: string) =>
    tamper(
      database,
      `update replies set body = replace(body, '"pot":${from}', '"pot":${to}') where ${isReplyTo('user:3', 'join')}`,
    )
  await pot('20', '2000')
  const changed = { check: 'reply', table: 'replies', id: 'user:3 join' }
  t.match((await verifyDatabase(database)).findings, [changed], 'a redacted reply cannot be changed otherwise')
  await pot('2000', '20')
  t.same((await verifyDatabase(database)).findings, [])
  await t.rejects(all.erase(9), { code: 'not_found' })
  t.same([...all.ledger.bugs, ...all.ledger.failures], [])
})

test('an erased agent is not listed and cannot be asked; operators decide on the requests that are left', async (t) => {
  const all = await erasureSetup(t)
  const { operator, user } = all
  const agency_countries = [{ country_id: 1, diamonds_per_dollar: 9_000 }]
  await operator('PUT', '/admin/v1/users/4', {
    charging_agent: 1,
    allow_receive_withdraw_requests: 1,
    agency_countries,
  })
  const listed = async () =>
    dataOf(await user(3)('GET', `${requests}/charging-agents`)).map(({ id }: { readonly id: number }) => id)
  t.same(await listed(), [4])
  const gold = { type: 'gold_agent', target_user_id: 4, beneficiary_user_id: 3, amount_in_dollars: 20, country_id: 1 }
  const asked = [
    await user(1)('POST', `${requests}/request`, gold),
    await user(1)('POST', `${requests}/request`, { ...cash, business_manager_id: 4, amount_in_dollars: 20 }),
  ]
  t.same(
    asked.map(({ status }) => status),
    [201, 201],
  )
  await all.erase(4)

  t.same(await listed(), [])
  t.match(await user(1)('POST', `${requests}/request`, gold), {
    status: 422,
    body: { errors: { target_user_id: ['This user is not a charging agent.'] } },
  })
  t.match(await user(1)('POST', `${requests}/request`, { ...cash, business_manager_id: 4, amount_in_dollars: 20 }), {
    status: 422,
    body: { errors: { business_manager_id: ['This user is not a business manager.'] } },
  })
  const [first, second] = asked.map((answer) => dataOf(answer).id)
  const decide = (id: number, status: string) => operator('POST', `/admin/v1/withdrawals/${id}/status`, { status })
  t.equal((await decide(first, 'approved')).status, 200)
  t.equal((await decide(first, 'transferred')).status, 200)
  t.equal((await user(1)('POST', `${requests}/${second}/status`, { status: 'rejected' })).status, 200, 'taken back')
  t.same((await verifyDatabase(all.database)).findings, [])
})

test('from the command line, and where the uid alone is theirs', async (t) => {
  const { operator, user, database, found } = await erasureSetup(t)
  await operator('PUT', '/admin/v1/users/1', { name: '', avatar: '' })
  // The first redaction, and nine later ones.
  const others = Array.from({ length: 10 }, (_, i) => ({ id: 100 + i, uid: i === 0 ? 'u1' : `u1-${i}` }))
  await operator('POST', '/admin/v1/users', { users: others })
  const create = { game_price: 10, max_players: 3 }
  await user(1)('POST', '/v1/rooms/R1/games/roulette/create', create, { 'idempotency-key': 'create' })
  t.same(await found(), { devices: 1, replies: 1, user_profiles: 1 })
  const run = (...args: string[]) => callCommandLine(main, database.serviceUrl, args)
  const summary = (devices: number, memberships: number, replies: number) =>
    `user 1 is forgotten; encrypted records erased: 0, devices removed: ${devices}, memberships ended: ${memberships}, stored replies redacted: ${replies}\n`
  t.same(await run('--user', '1'), { code: 0, err: '', out: summary(1, 2, 1) })
  t.same(await found(), {})
  t.match(await queryRows(database, 'select uid, name from user_profiles where user_id = 1'), [
    { uid: /^forgotten-[0-9a-f]{32}$/, name: '' },
  ])
  t.same(await run('--user', '1'), { code: 0, err: '', out: summary(0, 0, 0) }, 'again')
  t.equal((await queryRows(database, `select 1 from ledger where type = 'sessions-revoked'`)).length, 1)
  t.match(await run('--user', '9'), { code: 1, err: 'forget stopped: there is no such user\n' })
  t.match(await run('--user', '0'), { code: 1, out: '', err: /a user's id/ })
  t.same((await verifyDatabase(database)).findings, [])
})

test('the replies that name a person are found by an index', async (t) => {
  const database = await testDatabase()
  await queryRows(
    database,
    `insert into replies select gen_random_uuid(), gen_random_uuid(), now(), 200, '{"data":{"id":' || n || ',"name":""}}'
       from generate_series(1, 20000) n;
     insert into replies select gen_random_uuid(), gen_random_uuid(), now(), 200,
         '{"players":[{"id":' || n || ',"name":"","avatar":"","uid":""},{"id":9007199254740991,"name":"A","avatar":"","uid":"a"}]}'
       from generate_series(1, 200) n;
     analyze replies`,
  )
  const db = readDb(t, database)
  const statements = recordStatements(t)
  t.equal((await findRepliesNaming(db, 9_007_199_254_740_991)).length, 200)
  t.same(await findRepliesNaming(db, 7), [], 'already redacted')
  const text = statements.find((one) => one.includes('from replies'))?.replace('$1', '7')
  const plan = JSON.stringify(await queryRows(database, `explain ${text}`))
  t.match(plan, /persons_in_reply/)
  t.notMatch(plan, /Seq Scan on replies_\d[^>]*rows=[1-9]\d{3}/, 'only of days without replies')
})

test('a person is redacted everywhere in a response, and nothing else changes', async (t) => {
  const person = { id: 7, name: 'N', avatar: 'a.png', uid: 'n' }
  const blank = { id: 7, name: '', avatar: '', uid: 'forgotten-7' }
  const uidAlone = { ...blank, uid: 'n' }
  const rows: readonly (readonly [unknown, unknown])[] = [
    [person, blank],
    [uidAlone, blank],
    [
      { ...person, avatar_url: 'http://assets.test/a.png' },
      { ...blank, avatar_url: '' },
    ],
    [
      { data: { players: [{ ...person, id: 8 }, person], winner: person } },
      { data: { players: [{ ...person, id: 8 }, blank], winner: blank } },
    ],
    [
      { ...person, inner: { user: person } },
      { ...blank, inner: { user: blank } },
    ],
    [
      { data: { id: 7, uid: 'R', name: 'A room', owner: person } },
      { data: { id: 7, uid: 'R', name: 'A room', owner: blank } },
    ],
    [
      { ...person, id: '7' },
      { ...person, id: '7' },
    ],
  ]
  for (const [before, after] of rows) t.equal(redactPerson(JSON.stringify(before), 7, blank.uid), JSON.stringify(after))
  const exact = `{"wallet":1.10,"big":9007199254740993,"user":${JSON.stringify(person)}}`
  t.equal(redactPerson(exact, 7, blank.uid), `{"wallet":1.10,"big":9007199254740993,"user":${JSON.stringify(blank)}}`)
  t.equal(redactPerson(`{ "id":7, "name":"" }`, 7, blank.uid), `{ "id":7, "name":"" }`)
})
