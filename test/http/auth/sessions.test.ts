import { test } from 'tap'
import { headOf } from '../../../src/db/head.ts'
import { openPool } from '../../../src/db/pool.ts'
import { queryBuilder } from '../../../src/db/queries/query-builder.ts'
import { revokeStaffSessions } from '../../../src/features/staff/staff-sessions.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { revokeSessions } from '../../../src/features/users/user.ts'
import { Sessions, sessionsIn, staffSessionsIn, type UserSession, usersBelow } from '../../../src/http/auth/sessions.ts'
import { readiness } from '../../../src/http/observability/service-routes.ts'
import { Tail } from '../../../src/ledger/subscriptions/tail.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

test('revocations on another instance invalidate cached sessions', async (t) => {
  const { serviceUrl } = await testDatabase()
  const other = createTestExecutor(t, serviceUrl)
  await other.runOk(defineUsers, { listed: true, users: [{ id: 1 }, { id: 2 }, { id: 3 }] })
  await other.runOk(revokeSessions, { user_id: 1 })

  const pool = openPool(serviceUrl, { max: 4, application_name: 'sessions under test' })
  const db = queryBuilder(pool)
  const tail = new Tail({ url: serviceUrl, pool, failureLog: { failed: () => {}, succeeded: () => {} }, pollMs: 20 })
  t.teardown(async () => {
    await tail.stop()
    await db.destroy()
  })
  const sessions = sessionsIn(db)
  sessions.follow(tail, await headOf(db))
  tail.start()

  t.equal(sessions.validAfter(1), undefined, 'not cached yet')
  const first = await sessions.load(1)
  t.ok(first !== null && first > Date.now() / 1000 - 60, 'revoked before this instance started')
  t.equal(await sessions.load(2), 0)
  t.equal(await sessions.load(4), null, 'an unknown user')
  t.equal(sessions.validAfter(4), undefined, 'an unknown user is not cached')

  await other.runOk(revokeSessions, { user_id: 2 })
  await until(() => sessions.validAfter(2) !== 0)
  t.equal(sessions.validAfter(2), undefined, 'to be looked up again')
  const now = Math.floor(Date.now() / 1000)
  const second = (await sessions.load(2)) ?? 0
  t.ok(second >= now - 60 && second <= now)
  t.equal(sessions.validAfter(1), first)

  const staff = staffSessionsIn(db)
  staff.follow(tail, await headOf(db))
  t.equal(await staff.load('ann'), 0, 'never revoked')
  await other.runOk(revokeStaffSessions, { sub: 'ann' })
  await until(() => staff.validAfter('ann') !== 0)
  t.equal(staff.validAfter('ann'), undefined, 'to be looked up again')
  t.ok(((await staff.load('ann')) ?? 0) >= now - 60)
  t.equal(sessions.validAfter(1), first)

  const isReady = readiness(db, tail, { stalledMs: 0 })
  t.equal(await isReady(), true)
})

test('a session that is invalidated during its lookup is looked up again', async (t) => {
  const answers: ((before: number) => void)[] = []
  const sessions = new Sessions(() => new Promise((resolve) => answers.push(resolve)))
  const stale = sessions.load(1)
  const together = sessions.load(1)
  t.equal(answers.length, 1, 'one lookup for both')
  sessions.invalidate(1)
  answers[0]?.(0)
  t.same(await Promise.all([stale, together]), [0, 0])
  t.equal(sessions.validAfter(1), undefined, 'the result of the former lookup is not cached')

  const fresh = sessions.load(1)
  t.equal(answers.length, 2)
  answers[1]?.(50)
  t.equal(await fresh, 50)
  t.equal(sessions.validAfter(1), 50)
  sessions.invalidate(1)
  t.equal(sessions.validAfter(1), undefined)
})

test('the least recently used of many sessions are evicted', async (t) => {
  const sessions = new Sessions(async () => 1)
  for (let id = 1; id <= 100_001; id += 1) await sessions.load(id)
  t.equal(sessions.validAfter(1), undefined)
  t.equal(sessions.validAfter(2), 1)
  t.equal(sessions.validAfter(100_001), 1)
})

test('an instance is ready while the database answers and its tail advances', async (t) => {
  const nowhere = 'postgres://nobody@127.0.0.1:1/nowhere'
  const away = openPool(nowhere, { max: 1, application_name: 'readiness under test' })
  const none = queryBuilder(away)
  t.equal(await readiness(none, { position: 0 }, { stalledMs: 0 })(), false, 'no database')
  await none.destroy()

  const { serviceUrl } = await testDatabase()
  const writer = createTestExecutor(t, serviceUrl)
  await writer.runOk(defineUsers, { listed: true, users: [{ id: 1 }] })
  const pool = openPool(serviceUrl, { max: 1, application_name: 'readiness under test' })
  const db = queryBuilder(pool)
  t.teardown(() => db.destroy())
  const tail = { position: 0 }
  let now = 0
  // Opens the connection, for which a check does not wait long.
  await headOf(db)
  const isReady = readiness(db, tail, { stalledMs: 0 }, () => now)
  t.equal(await isReady(), true, 'lagging for the first time')
  now += 9_999
  t.equal(await isReady(), true, 'lagging for some seconds')
  now += 1
  t.equal(await isReady(), false, 'stuck')
  await writer.runOk(defineUsers, { listed: true, users: [{ id: 2 }] })
  tail.position = 1
  t.equal(await isReady(), true, 'still lagging, but advancing')
  tail.position = 2
  t.equal(await isReady(), true, 'up to date')

  const together = [isReady(), isReady()]
  t.equal(together[0], together[1], 'concurrent calls share a result')
  await together[0]

  const slow = await pool.connect()
  const started = performance.now()
  t.equal(await isReady(), false, 'no connection in time')
  t.ok(performance.now() - started >= 1_999)
  slow.release()
})

const findNone = async (): Promise<null> => null

test('sessions are preloaded', async (t) => {
  const { serviceUrl } = await testDatabase()
  const other = createTestExecutor(t, serviceUrl)
  await other.runOk(defineUsers, { listed: true, users: [{ id: 1 }, { id: 7 }, { id: 3 }] })
  await other.runOk(revokeSessions, { user_id: 3 })
  const db = readDb(t, { serviceUrl })
  const sessions = new Sessions(findNone)
  await sessions.preload(usersBelow(db))
  t.same([sessions.validAfter(1), sessions.validAfter(7), sessions.validAfter(2)], [0, 0, undefined])
  t.ok((sessions.validAfter(3) ?? 0) > Date.now() / 1000 - 60)
})

const stored = (below: number, most: number): UserSession[] =>
  Array.from({ length: Math.min(most, below - 1) }, (_, i) => ({ user_id: below - 1 - i, sessions_revoked_before: 0 }))

test('at most as many sessions as are cached are preloaded, the newest users first, page by page', async (t) => {
  const sessions = new Sessions(async () => 5)
  await sessions.load(7)
  const asked: number[] = []
  await sessions.preload(async (below, most) => {
    asked.push(most)
    return stored(Math.min(below, 120_001), most)
  })
  t.same(
    [7, 120_000, 20_002, 20_001].map((id) => sessions.validAfter(id)),
    [5, 0, 0, undefined],
  )
  t.ok(asked.length < 25 && asked.every((most) => most <= 5_000))
})

test('sessions invalidated or looked up while a page is read are not taken from the page', async (t) => {
  const sessions = new Sessions(async () => 9)
  await sessions.preload(async (below, most) => {
    const page = stored(Math.min(below, 11), most)
    if (page.length > 0) {
      sessions.invalidate(4)
      await sessions.load(5)
    }
    return page
  })
  t.same([sessions.validAfter(3), sessions.validAfter(4), sessions.validAfter(5)], [0, undefined, 9])
  sessions.invalidate(3)
  t.equal(sessions.validAfter(3), undefined)
  t.equal(await sessions.load(3), 9)
})

test('after an outage during the preload, sessions are looked up on demand', async (t) => {
  const sessions = new Sessions(async () => 9)
  let asked = 0
  const warming = sessions.preload(async (below, most) => {
    asked += 1
    if (asked > 1) throw new Error('away')
    return stored(Math.min(below, 9_001), most)
  })
  await t.rejects(warming, { message: 'away' })
  t.same([sessions.validAfter(9_000), sessions.validAfter(1)], [0, undefined])
  t.equal(await sessions.load(1), 9)
  t.equal(sessions.validAfter(1), 9)
})
