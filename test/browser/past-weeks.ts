import { rebuild } from '../../src/audit/rebuild/rebuild.ts'
import { loadDemo } from '../../src/demo/load.ts'
import { chooseSeed } from '../../src/features/fairness/lucky-chains.ts'
import { genesis } from '../../src/ledger/rules/incarnation.ts'
import { withOwnExecutors } from '../audit/seed-ledger.ts'
import { rechain, tamper } from '../audit/verify-database.ts'
import { busyLimits, cashRequest } from '../harness/app/busy-ledger.ts'
import { createTestApp, readDb, type SendRequest, type TestApp } from '../harness/app/test-app.ts'
import { queryRows, testChains, testOpening } from '../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const now = new Date()
const monthBefore = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1))
/** The month before this one: `2026-10`. */
export const lastMonth = monthBefore.toISOString().slice(0, 7)

/**
 * A ledger on which people sent gifts, played and withdrew on every other day from the third of last month until
 * yesterday. Everything happens at once; then the events are moved to their days.
 */
export async function pastWeeks(): Promise<TestDatabase> {
  const database = await testDatabase()
  const days: { readonly last: number; readonly at: string }[] = []
  await withOwnExecutors(async (own) => {
    const opened = await createTestApp(own, { database, approvalLimits: busyLimits })
    await opened.ledger.runOk(genesis, testOpening)
    await loadDemo(opened.ledger.executor, readDb(own, database))
    await opened.ledger.runOk(chooseSeed(testChains), { user_id: 1, client_seed: 'seven white doves' }, 'user:1')
    const first = monthBefore.getTime() + 2 * DAY_MS + 13 * HOUR_MS
    for (let at = first, day = 0; at < Date.now() - DAY_MS; at += 2 * DAY_MS, day += 1) {
      await oneDay(opened, day, at > Date.now() - 5 * DAY_MS)
      days.push({ last: await headOf(database), at: new Date(at).toISOString() })
    }
  })
  await tamper(database, ...days.map(({ last, at }, i) => moveEvents((days[i - 1]?.last ?? 0) + 1, last, at)))
  await tamper(database, MOVE_REPLIES, 'update ledger_head set at = (select max(at) from ledger)')
  await rechain(database)
  await rebuild(database.ownerUrl, { progress: () => {}, signal: new AbortController().signal })
  return database
}

/** Some minutes from one command to the next. */
const moveEvents = (first: number, last: number, at: string): string => `
  update ledger_events e set at = '${at}'::timestamptz + (moved.rank - 1) * interval '13 minutes 37.402517 seconds'
  from (
    select position, dense_rank() over (order by at) as rank from ledger where position between ${first} and ${last}
  ) moved
  where moved.position = e.position`

const MOVE_REPLIES = `
  update replies set at = e.at
  from ledger e
  where key = left(encode(sha256(convert_to(e.actor || E'\\n' || e.idempotency_key, 'UTF8')), 'hex'), 32)::uuid`

async function headOf(database: TestDatabase): Promise<number> {
  const [row] = await queryRows(database, 'select position from ledger_head')
  return Number(row?.['position'])
}

const roulette = '/v1/rooms/R1/games/roulette'
const withdrawals = '/api/v1/agency/target-withdraw-requests'

async function oneDay({ user, operator }: TestApp, day: number, isRecent: boolean): Promise<void> {
  const send = (from: number, to: readonly number[], gift: number, quantity: number) =>
    dataOf(user(from), '/api/v1/instant-send', {
      u_id: from,
      decoration_id: gift,
      user_id: to,
      quantity,
      room_id: 'R1',
    })
  if (day % 3 === 1) {
    const order = `Purchase, order ${88_120 + 37 * day}`
    await dataOf(operator, '/admin/v1/users/1/credits', { currency: 'diamonds', amount: 24_000, reason: order })
  }
  for (const quantity of [5, 10, 20]) {
    await send(1, [2, 3], 3, quantity + (day % 3) * 2)
    await send(2, [1], 1, 12)
    await send(1, [2], 3, 10)
    if (day % 2 === 0) await send(3, [2], 4, 2)
  }
  if (day % 3 === 0) await send(1, [3], 2, 1)
  if (day % 4 === 1) {
    const game = await dataOf(user(1), `${roulette}/create`, { game_price: 300, max_players: 3, join_admin: 1 })
    for (const id of [2, 3]) await dataOf(user(id), `${roulette}/join/${game.id}`, {})
    await dataOf(user(1), `${roulette}/finish/${game.id}`, {})
  }
  if (isRecent || day % 6 === 4) {
    const asked = { ...cashRequest, amount_in_dollars: `${12 + day}.50` }
    const request = await dataOf(user(1), `${withdrawals}/request`, asked)
    const decide = (status: string, note: string) =>
      dataOf(operator, `/admin/v1/withdrawals/${request.id}/status`, { status, note })
    if (!isRecent) {
      await decide('approved', 'Papers are complete.')
      await decide('transferred', `Bank reference ${47_110 + day}.`)
    }
  }
  if (day % 7 === 3) {
    const prize = { currency: 'coins', amount: 1_200, reason: 'Winner of the week' }
    await dataOf(operator, '/admin/v1/users/2/credits', prize)
  }
}

let requests = 0

/** What a POST answers that must succeed. */
export async function dataOf(request: SendRequest, url: string, body: object) {
  const response = await request('POST', url, body, { 'idempotency-key': `order-${(requests += 1)}` })
  if (response.status >= 300) throw new Error(response.text)
  return Object(response.body).data
}
