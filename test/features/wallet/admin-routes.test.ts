import { test } from 'tap'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { instant } from '../answers.ts'

test('operators and balances', async (t) => {
  const { operator, user, database, ledger } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }, { id: 8 }, { id: 9 }] })

  await t.test('invalid credits and debits are refused', async (t) => {
    const invalid = (field: string) => ({
      status: 422,
      body: { code: 'validation_failed', errors: { [field]: [String] } },
    })
    const notFound = { status: 404, body: { code: 'not_found' } }
    const rows: readonly (readonly [path: string, change: object, expected: object])[] = [
      ['users/x/credits', {}, notFound],
      ['users/88/credits', {}, notFound],
      ['users/88/credits', { amount: 0 }, invalid('amount')],
      ['users/88/debits', {}, notFound],
      ['rooms/88/debits', {}, notFound],
      ['users/88/credits', { amount: true }, invalid('amount')],
      ['users/7/credits', { amount: '1' }, invalid('amount')],
      ['users/7/credits', { amount: 1.5 }, invalid('amount')],
      ['users/7/credits', { amount: 9_007_199_254_740_992 }, invalid('amount')],
      ['users/7/credits', { currency: 'dollars', amount: '1.290' }, invalid('amount')],
      ['users/7/credits', { currency: 'gold' }, invalid('currency')],
      ['users/7/credits', { reason: '' }, invalid('reason')],
      ['users/7/credits', { reason: 'x'.repeat(501) }, invalid('reason')],
      ['users/7/credits', { reason: undefined }, invalid('reason')],
      ['users/7/debits', {}, { status: 422, body: { code: 'insufficient_balance' } }],
    ]
    for (const [path, change, expected] of rows) {
      const body = { currency: 'coins', amount: 1, reason: 'x', ...change }
      t.match(await operator('POST', `/admin/v1/${path}`, body), expected, `${path} ${JSON.stringify(change)}`)
    }
    t.same(await queryRows(database, 'select 1 from balances'), [])
  })

  await t.test('operators move balances', async (t) => {
    await operator('PUT', '/admin/v1/rooms/3', { owner_id: 7 })

    const credit = await operator('POST', '/admin/v1/users/7/credits', {
      currency: 'coins',
      amount: 50,
      reason: 'a gift',
    })
    t.equal(credit.status, 201)
    t.match(credit.body, {
      data: {
        id: Number,
        account: 'user:7:coins',
        currency: 'coins',
        amount: 50,
        balance: 50,
        reason: 'a gift',
        created_at: instant,
      },
    })
    const debit = await operator('POST', '/admin/v1/users/7/debits', { currency: 'coins', amount: 20, reason: 'oops' })
    t.match(debit, { status: 201, body: { data: { account: 'user:7:coins', amount: 20, balance: 30 } } })

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
  })

  await t.test('a retry of a credit matches in any notation, and a different credit does not', async (t) => {
    const key = { 'idempotency-key': 'k' }
    const url = '/admin/v1/users/8/credits'
    const first = await operator('POST', url, { currency: 'dollars', amount: '1.50', reason: 'x' }, key)
    t.equal(first.status, 201)
    const again = await operator('POST', url, { reason: 'x', note: 'ignored', amount: 1.5, currency: 'dollars' }, key)
    t.equal(again.text, first.text)
    t.equal(again.headers['idempotency-replayed'], 'true')
    for (const [other, body] of [
      ['/admin/v1/users/9/credits', { currency: 'dollars', amount: 1.5, reason: 'x' }],
      ['/admin/v1/users/8/debits', { currency: 'dollars', amount: 1.5, reason: 'x' }],
      ['/admin/v1/users/8/credits', { currency: 'dollars', amount: 1.51, reason: 'x' }],
      ['/admin/v1/users/8/credits', { currency: 'agent_dollars', amount: 1.5, reason: 'x' }],
      ['/admin/v1/users/8/credits', { currency: 'dollars', amount: 1.5, reason: 'y' }],
    ] as const) {
      t.match(await operator('POST', other, body, key), { status: 422, body: { code: 'idempotency_key_reused' } })
    }
    const other = { 'idempotency-key': 'other' }
    t.match(await operator('POST', url, { currency: 'dollars', amount: 'a lot', reason: 'x' }, other), {
      body: { code: 'validation_failed' },
    })
    const corrected = await operator('POST', url, { currency: 'dollars', amount: '1', reason: 'x' }, other)
    t.equal(corrected.status, 201, 'a schema error is not stored')
  })
  t.same(ledger.bugs, [])
})
