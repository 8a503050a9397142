import { test } from 'tap'
import { diamondsFor, diamondsPerCent } from '../../../src/features/agency/instant-transfer.ts'
import { centsToDollars } from '../../../src/ledger/rules/money.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { instant } from '../answers.ts'
import { agencyApp, bank, cash, dataOf, gold, person, requests, transfers } from './agency-fixture.ts'

test('a cent is 100 diamonds, or 130 for a charging agent', async (t) => {
  for (const [isAgent, rate] of [
    [false, 100],
    [true, 130],
  ] as const) {
    t.equal(diamondsPerCent({ charging_agent: isAgent }), rate)
    for (const cents of [1, 129, 100_000]) t.equal(diamondsFor(cents, rate), cents * rate)
  }
  t.equal(diamondsFor(Number.MAX_SAFE_INTEGER, 100), null)
})

/** Amounts as they are in a body, and their cents; null: 422. */
const written: readonly [string, number | null][] = [
  ['1.2', 120],
  ['1.290', 129],
  ['1.291', null],
  ['1e2', 10_000],
  ['129e-2', 129],
  ['-0', null],
  ['0', null],
  ['-1', null],
  ['0.99', null],
  ['1.005', null],
  ['9007199254740993', null],
  ['9999999999999.99', 999_999_999_999_999],
  ['10000000000000', null],
  ['1e400', null],
  ['"1.29"', 129],
  ['"1.290"', null],
  ['"1e2"', null],
  ['"0.99"', null],
  ['"0005"', 500],
  ['""', null],
  ['"5\\n"', null],
  ['null', null],
  ['true', null],
  ['[5]', null],
  ['{}', null],
]

test('withdrawals and transfers', async (t) => {
  const { app, user, operator, database, ledger } = await agencyApp(t)

  await t.test('a withdrawal through a charging agent, from request to transferred', async (t) => {
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
  })

  await t.test('cash from the agent wallet, approved and refunded', async (t) => {
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
    t.same(
      await queryRows(
        database,
        `select account, balance from balances where account ~ 'withdrawal(s:|:${id}:)' order by 1`,
      ),
      [
        { account: 'house:withdrawals:agent_dollars', balance: '0' },
        { account: 'house:withdrawals:dollars', balance: '0' },
        { account: `withdrawal:${id}:dollars`, balance: '0' },
      ],
    )
  })

  await t.test('an instant transfer, to oneself and to a charging agent', async (t) => {
    const own = await user(3)('POST', `${transfers}/request`, { dollars: '1.29', user_id: 3 })
    t.equal(own.status, 201)
    const { id, created_at } = dataOf(own)
    const record = {
      id,
      status: 'approved',
      dollars: 1.29,
      rate: 10_000,
      diamonds: 12_900,
      agent_benefit: false,
      user: person(3),
      receiver: person(3),
      created_at,
    }
    t.match(created_at, instant)
    t.same(own.body, { data: record })
    const other = await user(3)('POST', `${transfers}/request`, { dollars: 1.01, user_id: 4, agent_benefit: 1 })
    t.match(other, {
      status: 201,
      body: { data: { rate: 13_000, diamonds: 13_130, agent_benefit: true, receiver: person(4) } },
    })
    t.match((await user(3)('GET', '/api/v1/wallet')).body, {
      data: { diamonds: 12_900, wallet_dollars_count: 88.71, wallet_agent_dollars_count: 48.99 },
    })
    t.match((await user(4)('GET', '/api/v1/wallet')).body, { data: { diamonds: 13_130 } })

    const both = [dataOf(other), record]
    for (const query of ['', '?status=', '?status=approved']) {
      t.same(dataOf(await user(3)('GET', `${transfers}${query}`)), both, query)
    }
    t.same(dataOf(await user(3)('GET', `${transfers}?status=pending`)), [])
    t.equal((await user(3)('GET', `${transfers}?status=done`)).status, 422)
    t.same(dataOf(await user(4)('GET', transfers)), [], 'those of others are not shown')
    t.same(dataOf(await user(4)('GET', `${transfers}?received=1`)), [dataOf(other)])
    t.same(dataOf(await user(4)('GET', `${transfers}?received=1&status=pending`)), [])
    t.same(dataOf(await user(3)('GET', `${transfers}?received=true`)), [record], 'those to oneself are received')
    t.same(dataOf(await user(2)('GET', `${transfers}?received=1`)), [])
    t.same(dataOf(await user(3)('GET', `${transfers}?received=0`)), both)
    const third = dataOf(await user(2)('POST', `${transfers}/request`, { dollars: 1, user_id: 4 }))
    const page = Object((await user(4)('GET', `${transfers}?received=1&limit=1`)).body)
    t.same(page.data, [third])
    const rest = await user(4)('GET', `${transfers}?received=1&cursor=${page.meta.next_cursor}`)
    t.same(rest.body, { data: [dataOf(other)], meta: { next_cursor: null } })
    t.same(dataOf(await user(3)('GET', requests)), [], 'nor are they withdrawals')
    t.match(await user(3)('POST', `${transfers}/request`, { dollars: 1, user_id: 99 }), {
      status: 422,
      body: { errors: { user_id: ['There is no user with this id.'] } },
    })
  })

  await t.test('accepted notations of amounts on every route', async (t) => {
    const token = app.jwt.sign({ sub: '9' }, { expiresIn: '1h' })
    const staff = app.jwt.sign({ sub: 'ann', role: 'operator' }, { expiresIn: '1h' })
    const most = { currency: 'dollars', amount: '9999999999999.99', reason: 'x' }
    for (let i = 0; i < 8; i += 1) await operator('POST', '/admin/v1/users/9/credits', most)
    const send = async (url: string, bearer: string, body: object, field: string, text: string) => {
      const payload = JSON.stringify({ ...body, [field]: 'HERE' }).replace('"HERE"', text)
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
      const { statusCode, body: answer } = await app.inject({ method: 'POST', url, headers, payload })
      return { status: statusCode, text: answer, body: JSON.parse(answer) }
    }
    for (const [text, amount] of written) {
      for (const [url, body, field] of [
        [`${requests}/request`, { ...gold, beneficiary_user_id: 1 }, 'amount_in_dollars'],
        [`${transfers}/request`, { user_id: 1 }, 'dollars'],
      ] as const) {
        const response = await send(url, token, body, field, text)
        const what = `${text} as ${field}: ${response.text}`
        if (amount === null)
          t.match(response, { status: 422, body: { code: 'validation_failed', errors: { [field]: Array } } }, what)
        else if (url.includes('transaction') && amount > 90_000_000_000_000)
          t.match(response.body, { code: 'balance_limit' }, what)
        else t.match(response, { status: 201, text: `"${field}":${centsToDollars(amount).rawJSON},` }, what)
      }
      const paid = await send(
        '/admin/v1/salary-deposits',
        staff,
        { period: 'p', deposits: 'HERE' },
        'deposits',
        `[{"user_id":99,"dollars":${text},"agent_dollars":0}]`,
      )
      // A salary may be 0, or less than a dollar.
      const little = ['-0', '0', '0.99', '"0.99"'].includes(text)
      t.equal(paid.status, amount !== null || little ? 201 : 422, `${text} as salary: ${paid.text}`)
      if (paid.status === 422) t.match(paid.body, { errors: { 'deposits.0.dollars': Array } })
    }
    const events = await queryRows(
      database,
      `select distinct data::json->>'amount' as amount from ledger where type = 'withdrawal-requested' and actor = 'user:9'`,
    )
    const expected = new Set(written.flatMap(([, amount]) => (amount === null ? [] : [String(amount)])))
    t.same(new Set(events.map(({ amount }) => amount)), expected, 'on the ledger in cents, to the last one')

    const { text } = await user(9)('GET', '/api/v1/wallet')
    t.match(text, /"wallet_dollars_count":\d{14}(\.\d\d?)?,.*"available_dollars":\d{13,14}\.\d\d?,/)
  })
  t.same((await verifyDatabase(database)).findings, [])
  t.same(ledger.bugs, [])
})
