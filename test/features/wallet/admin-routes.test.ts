import { test } from 'tap'
import { createRoomsSlice } from '../../../src/features/rooms/slice.ts'
import { activeGame } from '../../../src/features/roulette/reads.ts'
import { seats } from '../../../src/features/roulette/seats/seats.ts'
import { usersSlice } from '../../../src/features/users/slice.ts'
import { walletSlice } from '../../../src/features/wallet/slice.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'

const roomsSlice = createRoomsSlice(activeGame, seats)

const slices = [usersSlice, roomsSlice, walletSlice]

test('operators move balances', async (t) => {
  const { operator, user, database, ledger } = await createTestApp(t, slices)
  await operator('PUT', '/admin/v1/users/7', {})
  await operator('PUT', '/admin/v1/rooms/3', { owner_id: 7 })

  const credit = await operator('POST', '/admin/v1/users/7/credits', {
    currency: 'coins',
    amount: 50,
    reason: 'a gift',
  })
  t.equal(credit.status, 201)
  t.match(credit.body, {
    data: {
      id: 4,
      account: 'user:7:coins',
      currency: 'coins',
      amount: 50,
      balance: 50,
      reason: 'a gift',
      created_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
    },
  })
  const debit = await operator('POST', '/admin/v1/users/7/debits', { currency: 'coins', amount: 20, reason: 'oops' })
  t.match(debit, { status: 201, body: { data: { id: 5, account: 'user:7:coins', amount: 20, balance: 30 } } })

  const dollars = { currency: 'dollars', amount: '90071.29', reason: 'x' }
  t.match(
    (await operator('POST', '/admin/v1/users/7/credits', dollars)).text,
    /"amount":90071\.29,"balance":90071\.29,/,
  )
  t.match(
    (await operator('POST', '/admin/v1/users/7/debits', { ...dollars, amount: 0.1 })).text,
    /"amount":0\.1,"balance":90071\.19,/,
  )
  t.match(await operator('POST', '/admin/v1/rooms/3/debits', { currency: 'target', amount: 1, reason: 'x' }), {
    status: 422,
    body: { code: 'insufficient_balance' },
  })
  t.match((await user(7)('GET', '/v1/wallet')).text, /"coins":30,.*"wallet_dollars_count":90071\.19,/)
  t.same(await queryRows(database, `select account, balance from balances order by account collate "C"`), [
    { account: 'issuance:operator:coins', balance: '-30' },
    { account: 'issuance:operator:dollars', balance: '-9007119' },
    { account: 'user:7:coins', balance: '30' },
    { account: 'user:7:dollars', balance: '9007119' },
  ])
  t.same(ledger.bugs, [])
})

test('a retry of a credit matches in any notation, and a different credit does not', async (t) => {
  const { operator, ledger } = await createTestApp(t, slices)
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }, { id: 8 }] })
  const key = { 'idempotency-key': 'k' }
  const first = await operator(
    'POST',
    '/admin/v1/users/7/credits',
    { currency: 'dollars', amount: '1.50', reason: 'x' },
    key,
  )
  t.equal(first.status, 201)
  const again = await operator(
    'POST',
    '/admin/v1/users/7/credits',
    { reason: 'x', note: 'ignored', amount: 1.5, currency: 'dollars' },
    key,
  )
  t.equal(again.text, first.text)
  t.equal(again.headers['idempotency-replayed'], 'true')
  for (const [url, body] of [
    ['/admin/v1/users/8/credits', { currency: 'dollars', amount: 1.5, reason: 'x' }],
    ['/admin/v1/users/7/debits', { currency: 'dollars', amount: 1.5, reason: 'x' }],
    ['/admin/v1/users/7/credits', { currency: 'dollars', amount: 1.51, reason: 'x' }],
    ['/admin/v1/users/7/credits', { currency: 'agent_dollars', amount: 1.5, reason: 'x' }],
    ['/admin/v1/users/7/credits', { currency: 'dollars', amount: 1.5, reason: 'y' }],
  ] as const) {
    t.match(await operator('POST', url, body, key), { status: 422, body: { code: 'idempotency_key_reused' } })
  }
  const url = '/admin/v1/users/7/credits'
  const other = { 'idempotency-key': 'other' }
  t.match(await operator('POST', url, { currency: 'dollars', amount: 'a lot', reason: 'x' }, other), {
    body: { code: 'validation_failed' },
  })
  const corrected = await operator('POST', url, { currency: 'dollars', amount: '1', reason: 'x' }, other)
  t.equal(corrected.status, 201, 'a schema error is not stored')
  t.same(ledger.bugs, [])
})

test('invalid credits and debits are refused', async (t) => {
  const { operator, database, ledger } = await createTestApp(t, slices)
  await operator('PUT', '/admin/v1/users/7', {})
  const good = { currency: 'coins', amount: 1, reason: 'x' }
  const rows: readonly [url: string, body: unknown, status: number, code: string, field?: string][] = [
    ['/admin/v1/users/x/credits', good, 404, 'not_found'],
    ['/admin/v1/users/8/credits', good, 404, 'not_found'],
    ['/admin/v1/users/8/credits', { ...good, amount: 0 }, 422, 'validation_failed', 'amount'],
    [
      '/admin/v1/users/x/credits',
      { ...good, currency: 'dollars', amount: '1.290' },
      422,
      'validation_failed',
      'amount',
    ],
    ['/admin/v1/users/8/debits', good, 404, 'not_found'],
    ['/admin/v1/rooms/8/debits', good, 404, 'not_found'],
    ['/admin/v1/users/8/credits', { ...good, amount: true }, 422, 'validation_failed', 'amount'],
    ['/admin/v1/users/7/credits', { ...good, amount: null }, 422, 'validation_failed', 'amount'],
    ['/admin/v1/users/7/credits', { ...good, amount: '1' }, 422, 'validation_failed', 'amount'],
    ['/admin/v1/users/7/credits', { ...good, amount: 1.5 }, 422, 'validation_failed', 'amount'],
    ['/admin/v1/users/7/credits', { ...good, amount: 9_007_199_254_740_992 }, 422, 'validation_failed', 'amount'],
    [
      '/admin/v1/users/7/credits',
      { ...good, currency: 'dollars', amount: '1.290' },
      422,
      'validation_failed',
      'amount',
    ],
    ['/admin/v1/users/7/credits', { ...good, currency: 'gold' }, 422, 'validation_failed', 'currency'],
    ['/admin/v1/users/7/credits', { ...good, reason: '' }, 422, 'validation_failed', 'reason'],
    ['/admin/v1/users/7/credits', { ...good, reason: 'x'.repeat(501) }, 422, 'validation_failed', 'reason'],
    ['/admin/v1/users/7/credits', { currency: 'coins', amount: 1 }, 422, 'validation_failed', 'reason'],
    ['/admin/v1/users/7/debits', good, 422, 'insufficient_balance'],
  ]
  for (const [url, body, status, code, field] of rows) {
    const errors = field === undefined ? {} : { errors: { [field]: [String] } }
    t.match(await operator('POST', url, body), { status, body: { code, ...errors } }, `${url} ${JSON.stringify(body)}`)
  }
  t.same(await queryRows(database, 'select 1 from balances'), [])
  t.same(ledger.bugs, [])
})

test('concurrent debits take no more than is available', async (t) => {
  const { operator, ledger } = await createTestApp(t, slices)
  await operator('PUT', '/admin/v1/users/7', {})
  await operator('POST', '/admin/v1/users/7/credits', { currency: 'coins', amount: 100, reason: 'x' })
  const debits = await Promise.all(
    Array.from({ length: 20 }, () =>
      operator('POST', '/admin/v1/users/7/debits', { currency: 'coins', amount: 30, reason: 'x' }),
    ),
  )
  t.equal(debits.filter(({ status }) => status === 201).length, 3)
  t.equal(debits.filter(({ status }) => status === 422).length, 17)
  t.same(ledger.bugs, [])
})
