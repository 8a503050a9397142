import { test } from 'tap'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { agencyApp, bank, cash, dataOf, gold, person, requests, transfers } from './agency-fixture.ts'

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

test('a withdrawal through a charging agent, from request to transferred', async (t) => {
  const { user, operator, database, ledger } = await agencyApp(t)
  const made = await user(1)('POST', `${requests}/request`, {
    ...gold,
    amount_in_dollars: '20.50',
    user_notice: 'before\nFriday',
    status: 'approved',
    id: 3,
  })
  t.equal(made.status, 201)
  const { id, created_at } = dataOf(made)
  t.match(created_at, instant)
  const record = {
    id,
    type: 'gold_agent',
    status: 'pending',
    amount_in_dollars: 20.5,
    agent_benefit: false,
    user: person(1),
    target_user: person(4),
    beneficiary_user: person(9),
    business_manager: null,
    country: { id: 1, name: 'Country 1' },
    diamonds_per_dollar: 10_001,
    created_at,
    updated_at: created_at,
    bank_details: null,
    payment_method: null,
    user_notice: 'before\nFriday',
    note: null,
  }
  t.same(made.body, { data: record })
  t.match((await user(1)('GET', '/api/v1/wallet')).body, {
    data: { wallet_dollars_count: 90, pending_dollars: 20.5, available_dollars: 69.5, pending_agent_dollars: 0 },
  })
  t.same((await user(1)('GET', requests)).body, { data: [record], meta: { next_cursor: null } })
  t.same((await user(4)('GET', `${requests}?received=1`)).body, { data: [record], meta: { next_cursor: null } })
  t.same(dataOf(await user(4)('GET', requests)), [])

  const approved = await user(4)('POST', `${requests}/${id}/status`, { status: 'approved', note: 'on its way' })
  t.equal(approved.status, 200)
  t.match(approved.body, { data: { ...record, status: 'approved', note: 'on its way', updated_at: instant } })
  t.match((await user(1)('GET', '/api/v1/wallet')).body, {
    data: { wallet_dollars_count: 69.5, pending_dollars: 0, available_dollars: 69.5 },
  })
  const done = await operator('POST', `/admin/v1/withdrawals/${id}/status`, { status: 'transferred' })
  t.match(done, { status: 200, body: { data: { id, status: 'transferred', note: null } } })
  t.match((await user(9)('GET', '/api/v1/wallet')).body, { data: { diamonds: 0 } }, 'diamonds are paid by the agent')

  t.same(
    await queryRows(
      database,
      `select m.type, m.actor, m.debit, m.credit, m.amount::text from ledger_movements m where position > ${id} order by position, leg`,
    ),
    [
      ['user:4', 'user:1:dollars', `withdrawal:${id}:dollars`],
      ['staff:ann', `withdrawal:${id}:dollars`, 'settled:4:dollars'],
    ].map(([actor, debit, credit]) => ({ type: 'withdrawal-status-changed', actor, debit, credit, amount: '2050' })),
  )
  t.same(await queryRows(database, 'select * from holds'), [])
  t.same((await verifyDatabase(database)).findings, [])
  t.same(ledger.bugs, [])
})

test('cash from the agent wallet, approved and refunded', async (t) => {
  const { user, operator, database, ledger } = await agencyApp(t)
  const made = await user(2)('POST', `${requests}/request`, {
    ...cash,
    agent_benefit: 'true',
    payment_method: 'wire',
    user_notice: '',
  })
  t.equal(made.status, 201)
  const { id } = dataOf(made)
  t.match(dataOf(made), {
    type: 'cash',
    agent_benefit: true,
    business_manager: person(7),
    target_user: null,
    beneficiary_user: null,
    diamonds_per_dollar: null,
    bank_details: bank,
    payment_method: 'wire',
    user_notice: null,
  })
  t.match((await user(2)('GET', '/v1/wallet')).body, {
    data: {
      pending_dollars: 0,
      pending_agent_dollars: 20,
      available_agent_dollars: 30,
      wallet_agent_dollars_count: 50,
    },
  })
  t.equal((await user(7)('POST', `${requests}/${id}/status`, { status: 'approved' })).status, 200)
  t.match((await user(7)('POST', `${requests}/${id}/status`, { status: 'rejected' })).body, {
    code: 'not_your_decision',
  })
  t.equal(
    (await operator('POST', `/admin/v1/withdrawals/${id}/status`, { status: 'rejected', note: 'no' })).status,
    200,
  )
  t.match((await user(2)('GET', '/v1/wallet')).body, {
    data: { pending_agent_dollars: 0, available_agent_dollars: 50, wallet_agent_dollars_count: 50 },
  })
  t.same(await queryRows(database, `select account, balance from balances where account ~ 'withdrawal' order by 1`), [
    { account: 'house:withdrawals:agent_dollars', balance: '0' },
    { account: 'house:withdrawals:dollars', balance: '0' },
    { account: `withdrawal:${id}:dollars`, balance: '0' },
  ])
  t.same((await verifyDatabase(database)).findings, [])
  t.same(ledger.bugs, [])
})

test('an instant transfer, to oneself and to a charging agent', async (t) => {
  const { user, database, ledger } = await agencyApp(t)
  const own = await user(1)('POST', `${transfers}/request`, { dollars: '1.29', user_id: 1 })
  t.equal(own.status, 201)
  const { id, created_at } = dataOf(own)
  const record = {
    id,
    status: 'approved',
    dollars: 1.29,
    rate: 10_000,
    diamonds: 12_900,
    agent_benefit: false,
    user: person(1),
    receiver: person(1),
    created_at,
  }
  t.match(created_at, instant)
  t.same(own.body, { data: record })
  const other = await user(1)('POST', `${transfers}/request`, { dollars: 1.01, user_id: 4, agent_benefit: 1 })
  t.match(other, {
    status: 201,
    body: { data: { rate: 13_000, diamonds: 13_130, agent_benefit: true, receiver: person(4) } },
  })
  t.match((await user(1)('GET', '/api/v1/wallet')).body, {
    data: { diamonds: 12_900, wallet_dollars_count: 88.71, wallet_agent_dollars_count: 48.99 },
  })
  t.match((await user(4)('GET', '/api/v1/wallet')).body, { data: { diamonds: 13_130 } })

  const both = [dataOf(other), record]
  for (const query of ['', '?status=', '?status=approved']) {
    t.same(dataOf(await user(1)('GET', `${transfers}${query}`)), both, query)
  }
  t.same(dataOf(await user(1)('GET', `${transfers}?status=pending`)), [])
  t.equal((await user(1)('GET', `${transfers}?status=done`)).status, 422)
  t.same(dataOf(await user(4)('GET', transfers)), [], 'those of others are not shown')
  t.same(dataOf(await user(4)('GET', `${transfers}?received=1`)), [dataOf(other)])
  t.same(dataOf(await user(4)('GET', `${transfers}?received=1&status=pending`)), [])
  t.same(dataOf(await user(1)('GET', `${transfers}?received=true`)), [record], 'those to oneself are received')
  t.same(dataOf(await user(2)('GET', `${transfers}?received=1`)), [])
  t.same(dataOf(await user(1)('GET', `${transfers}?received=0`)), both)
  const third = dataOf(await user(2)('POST', `${transfers}/request`, { dollars: 1, user_id: 4 }))
  const page = Object((await user(4)('GET', `${transfers}?received=1&limit=1`)).body)
  t.same(page.data, [third])
  const rest = await user(4)('GET', `${transfers}?received=1&cursor=${page.meta.next_cursor}`)
  t.same(rest.body, { data: [dataOf(other)], meta: { next_cursor: null } })
  t.same(dataOf(await user(1)('GET', requests)), [], 'nor are they withdrawals')
  t.match(await user(1)('POST', `${transfers}/request`, { dollars: 1, user_id: 99 }), {
    status: 422,
    body: { errors: { user_id: ['is not a known user'] } },
  })
  t.same((await verifyDatabase(database)).findings, [])
  t.same(ledger.bugs, [])
})
