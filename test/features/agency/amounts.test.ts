import { test } from 'tap'
import { MIN_TRANSFER_CENTS, parseDollars } from '../../../src/features/agency/dollars.ts'
import { diamondsFor, diamondsPerCent } from '../../../src/features/agency/rates.ts'
import { centsToDollars, dollarsToCents } from '../../../src/ledger/rules/money.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { agencyApp, gold, requests, transfers } from './agency-fixture.ts'

test('a cent is 100 diamonds, or 130 for a charging agent, for amounts up to 1,000 dollars', (t) => {
  const wrong: number[] = []
  // Each number of cents is met at some number of dollars.
  for (let amount = 1; amount <= 100_000; amount += 7) {
    // Parsed and printed, as a number and as text.
    const text = centsToDollars(amount).rawJSON
    const isRight =
      diamondsFor(amount, diamondsPerCent({ charging_agent: false })) === amount * 100 &&
      diamondsFor(amount, diamondsPerCent({ charging_agent: true })) === amount * 130 &&
      [text, Number(text), (amount / 100).toFixed(2)].every((written) => dollarsToCents(written) === amount) &&
      (parseDollars(text, MIN_TRANSFER_CENTS) === null) === amount < 100
    if (!isRight) wrong.push(amount)
  }
  t.same(wrong, [])
  t.equal(diamondsFor(Number.MAX_SAFE_INTEGER, 100), null)
  t.end()
})

/** Amounts as they are in a body, and their cents; null: 422. */
const written: readonly [string, number | null][] = [
  ['1', 100],
  ['1.2', 120],
  ['1.29', 129],
  ['1.290', 129],
  ['1.291', null],
  ['1e2', 10_000],
  ['1E1', 1_000],
  ['129e-2', 129],
  ['-0', null],
  ['0', null],
  ['-1', null],
  ['0.99', null],
  ['0.999', null],
  ['1.005', null],
  ['9007199254740993', null],
  ['9999999999999.99', 999_999_999_999_999],
  ['10000000000000', null],
  ['1e400', null],
  ['"1"', 100],
  ['"1.2"', 120],
  ['"1.29"', 129],
  ['"1.290"', null],
  ['"1.291"', null],
  ['"1e2"', null],
  ['" 5"', null],
  ['"5 "', null],
  ['"-0"', null],
  ['"+5"', null],
  ['"0.99"', null],
  ['"5."', null],
  ['".5"', null],
  ['"0005"', 500],
  ['"9007199254740993"', null],
  ['"9999999999999.99"', 999_999_999_999_999],
  ['""', null],
  ['"٥"', null],
  ['"5,00"', null],
  ['"5\\n"', null],
  ['"0x5"', null],
  ['"Infinity"', null],
  ['null', null],
  ['true', null],
  ['[5]', null],
  ['{}', null],
]

test('accepted notations of amounts on every route', async (t) => {
  const { app, user, operator, database, ledger } = await agencyApp(t)
  const token = app.jwt.sign({ sub: '9' }, { expiresIn: '1h' })
  const staff = app.jwt.sign({ sub: 'ann', role: 'operator' }, { expiresIn: '1h' })
  await operator('POST', '/admin/v1/users/9/credits', { currency: 'dollars', amount: '9999999999999.99', reason: 'x' })
  for (let i = 0; i < 7; i += 1) {
    await operator('POST', '/admin/v1/users/9/credits', {
      currency: 'dollars',
      amount: '9999999999999.99',
      reason: 'x',
    })
  }
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
    `select distinct data::json->>'amount' as amount from ledger_events where type = 'withdrawal-requested'`,
  )
  const expected = new Set(written.flatMap(([, amount]) => (amount === null ? [] : [String(amount)])))
  t.same(new Set(events.map(({ amount }) => amount)), expected, 'on the ledger in cents, to the last one')

  const { text } = await user(9)('GET', '/api/v1/wallet')
  t.match(text, /"wallet_dollars_count":\d{14}(\.\d\d?)?,.*"available_dollars":\d{13,14}\.\d\d?,/)
  t.same(ledger.bugs, [])
})
