import { test } from 'tap'
import { WriteAllowance } from '../../../src/http/limits/write-allowance.ts'
import { dataOf, rouletteApp, rouletteUrl } from '../../features/roulette/roulette-app-fixture.ts'
import { isReplyTo, queryRows } from '../../harness/ledger/test-executor.ts'

const DAY_MS = 86_400_000

test('an allowance is refilled evenly, and `retryAfter` is when something is left', async (t) => {
  let now = 0
  const writes = new WriteAllowance(86_400, { now: () => now })
  t.equal(writes.hasLeft(1), true)
  t.equal(writes.spend(1, 86_399), false)
  t.equal(writes.hasLeft(1), true)
  t.equal(writes.spend(1, 101), true, 'reported')
  t.same([writes.hasLeft(1), writes.hasLeft(2)], [false, true])
  t.equal(writes.retryAfter(1), 101)
  now = 100_000
  t.equal(writes.hasLeft(1), false)
  t.equal(writes.retryAfter(1), 1)
  now = 101_000
  t.equal(writes.hasLeft(1), true)
  t.equal(writes.retryAfter(1), 0)
  t.equal(writes.spend(1, 10), false, 'not reported again so soon')
  t.equal(writes.hasLeft(1), false)
  now += 3_600_000
  t.equal(writes.spend(1, 86_400), true, 'reported again')
  now += 2 * DAY_MS
  t.equal(writes.spend(1, 86_399), false)
  t.equal(writes.hasLeft(1), true)
  t.equal(writes.spend(1, 1), true)
  t.equal(writes.hasLeft(1), false, 'never more than a day’s allowance')

  const off = new WriteAllowance(null)
  t.equal(off.spend(1, 1e12), false)
  t.equal(off.hasLeft(1), true)
  t.equal(off.size, 0)
})

test('users who have spent much are not evicted for others', async (t) => {
  const writes = new WriteAllowance(1_000, { now: () => 0, maxUsers: 100 })
  for (let user = 1; user <= 20; user += 1) writes.spend(user, 1_000)
  for (let user = 21; user <= 5_000; user += 1) writes.spend(user, 1 + (user % 7))
  t.equal(writes.size, 100)
  for (let user = 1; user <= 20; user += 1) t.equal(writes.hasLeft(user), false)
})

test('free writes are refused once the allowance is used up; writes that pay out are not', async (t) => {
  let now = 0
  const writes = new WriteAllowance(30_000, { now: () => now })
  const { user, operator, database, ledger } = await rouletteApp(t, writes)
  const ask = user(1)
  await operator('POST', '/admin/v1/users/1/credits', { currency: 'dollars', amount: 90, reason: 'test' })
  await operator('POST', '/admin/v1/users/1/credits', { currency: 'diamonds', amount: 100, reason: 'test' })
  await operator('PUT', '/admin/v1/decorations/1', { name: 'Rose', kind: 'standard', price: 1 })
  await operator('PUT', '/admin/v1/countries/1', { name: 'Country' })
  await operator('PUT', '/admin/v1/users/4', { business_manager: 1 })
  const send = { u_id: 1, decoration_id: 1, user_id: [2], quantity: 1, room_id: 'R1' }
  const bank = { bank_name: 'First', account_name: 'A', account_number: '1234567' }
  const cash = { type: 'cash', business_manager_id: 4, amount_in_dollars: 20, country_id: 1, bank_details: bank }
  const withdrawals = '/v1/agency/target-withdraw-requests'

  for (let i = 0; i < 40; i += 1) await ask('POST', '/v1/instant-send', send, { 'idempotency-key': `gift-${i}` })
  t.equal(writes.hasLeft(1), true, 'gifts were paid for')
  const game = dataOf(await ask('POST', `${rouletteUrl}/create`, { game_price: 30, max_players: 3, join_admin: 1 }))
  const withdrawal = dataOf(await ask('POST', `${withdrawals}/request`, cash))
  const own = dataOf(await ask('POST', '/v1/rooms/R2/games/roulette/create', { game_price: 30, max_players: 3 }))
  for (const id of [2, 3]) await user(id)('POST', `${rouletteUrl}/join/${game.id}`)

  let seeds = 0
  let refused = await ask('PUT', '/v1/fairness/lucky', { client_seed: 'mine' })
  for (; refused.status === 200 && seeds < 200; seeds += 1) {
    refused = await ask('PUT', '/v1/fairness/lucky', { client_seed: 'mine' })
  }
  t.match(refused, { status: 429, body: { code: 'rate_limited' }, headers: { 'retry-after': /^[1-9]\d*$/ } })
  const stored = async () => (await queryRows(database, 'select position from ledger_head'))[0]
  const before = await stored()
  for (const [method, url, body] of [
    ['PUT', '/api/v1/fairness/lucky/', { client_seed: 'mine' }],
    ['PUT', '/v1/fairness/lucky', { client_seed: '?' }],
    ['POST', '/v1/rooms/R2/games/roulette/create', { game_price: 30, max_players: 3 }],
    ['POST', `${withdrawals}/request`, cash],
    ['POST', '/v1/devices', { token: 'x', platform: 'ios' }],
    ['POST', '/v1/privilege-wallet/1/activate', undefined],
  ] as const) {
    t.match(await ask(method, url, body), { status: 429, body: { code: 'rate_limited' } }, url)
  }
  t.same(await stored(), before)
  t.match(await ask('POST', '/v1/instant-send', send), { status: 200 }, 'paid writes pass')
  const one = { decoration_id: 1, quantity: 1, room_id: 'R1' }
  t.match(await ask('POST', '/v1/users/2/decorations/send', one), { status: 200 })
  t.match(
    await user(2)('PUT', '/v1/fairness/lucky', { client_seed: 'mine' }),
    { status: 200 },
    'other users are not affected',
  )
  t.match(await ask('GET', '/v1/wallet'), { status: 200 })
  t.match(await ask('POST', '/v1/fairness/verify', {}), { status: 422 })
  t.match(await ask('POST', '/v1/nothing'), { status: 404 })

  const status = `${withdrawals}/${withdrawal.id}/status`
  const key = { 'idempotency-key': 'again' }
  t.match(await ask('POST', status, { status: 'approved' }, key), { status: 403 })
  t.same(await queryRows(database, `select 1 from replies where ${isReplyTo('user:1', 'again')}`), [], 'not stored')
  t.match(await ask('POST', status, { status: 'rejected' }, key), { status: 200 })
  t.match(await ask('POST', status, { status: 'rejected' }, key), { headers: { 'idempotency-replayed': 'true' } })
  t.match(await ask('POST', `${rouletteUrl}/leave/${game.id}`), { status: 200 })
  t.match(await ask('POST', `${rouletteUrl}/finish/${game.id}`), { status: 200 })
  t.match(await ask('DELETE', `/v1/rooms/R2/games/roulette/${own.id}`), { status: 200 })
  t.match((await ask('GET', '/v1/wallet')).body, { data: { coins: 100, available_dollars: 90 } })

  t.equal(writes.hasLeft(1), false)
  now += writes.retryAfter(1) * 1_000
  t.match(await ask('PUT', '/v1/fairness/lucky', { client_seed: 'mine' }), { status: 200 })
  t.match(await ask('PUT', '/v1/fairness/lucky', { client_seed: 'mine' }), { status: 429 })
  t.same([...ledger.bugs, ...ledger.failures], [])
})

test('stored refusals of gifts draw on the allowance, and beyond it none is stored', async (t) => {
  const writes = new WriteAllowance(10_000, { now: () => 0 })
  const { user, database } = await rouletteApp(t, writes)
  const send = { u_id: 1, decoration_id: 99, user_id: [2], quantity: 1, room_id: 'R1' }
  const statuses = new Set<number>()
  for (let i = 0; i < 40; i += 1) {
    statuses.add((await user(1)('POST', '/v1/instant-send', send, { 'idempotency-key': `gift-${i}` })).status)
  }
  t.same([...statuses], [422])
  const remembered = (await queryRows(database, 'select 1 from replies')).length
  t.ok(remembered > 0 && remembered < 40, `${remembered} are remembered`)
  for (let i = 0; i < 40; i += 1) await user(2)('POST', '/v1/instant-send', { ...send, u_id: 2 })
  t.equal(writes.hasLeft(2), true, 'without a key nothing is stored')
})
