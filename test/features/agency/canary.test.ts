import { test } from 'tap'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { startService, tokenIn } from '../../harness/process/service.ts'
import { until } from '../../harness/until.ts'

const canaries = {
  bank_name: 'CANARY-bank',
  account_name: 'CANARY-owner',
  account_number: 'CANARY-number-7788',
  user_notice: 'CANARY-notice',
  payment_method: 'CANARY-method',
  note: 'CANARY-note',
}

test('what people wrote in private is in no table, no event, no log and no error', async (t) => {
  const database = await testDatabase()
  const environment = {
    DATABASE_URL: database.serviceUrl,
    LOG_LEVEL: 'trace',
    PII_KEY: 'a pii key',
  }
  const service = await startService(t, environment)
  const tokens = { user: tokenIn(service.output(), 'user 1'), operator: tokenIn(service.output(), 'operator') }
  const errors: string[] = []
  const ask = async (who: keyof typeof tokens, url: string, body: unknown, key = '') => {
    const response = await fetch(`${service.origin}${url}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokens[who]}`,
        'content-type': 'application/json',
        ...(key === '' ? {} : { 'idempotency-key': key }),
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) errors.push(text)
    return { status: response.status, text, body: JSON.parse(text) }
  }
  await ask('operator', '/admin/v1/users', { users: [{ id: 90, business_manager: 1 }] })
  await ask('operator', '/admin/v1/users/1/credits', { currency: 'dollars', amount: 500, reason: 'test' })
  const url = '/api/v1/agency/target-withdraw-requests/request'
  const { bank_name, account_name, account_number, user_notice, payment_method, note } = canaries
  const bank_details = { bank_name, account_name, account_number }
  const body = {
    type: 'cash',
    business_manager_id: 90,
    amount_in_dollars: 20,
    country_id: 1,
    bank_details,
    user_notice,
    payment_method,
  }
  const made = await ask('user', url, body, 'one')
  t.equal(made.status, 201, made.text)
  for (const word of [account_number, user_notice, payment_method]) t.match(made.text, word)
  t.equal((await ask('user', url, body, 'one')).text, made.text)
  const status = `/admin/v1/withdrawals/${made.body.data.id}/status`
  t.match((await ask('operator', status, { status: 'approved', note }, 'two')).text, note)

  // Every kind of refusal.
  const bent = [
    { ...body, amount_in_dollars: 9_000 },
    { ...body, country_id: 99 },
    { ...body, business_manager_id: 1 },
    { ...body, type: account_number },
    { ...body, bank_details: { ...bank_details, bank_name: 7 } },
    { ...body, bank_details: account_number },
    { ...body, bank_details: { ...bank_details, account_number: `${account_number}\n` } },
    { ...body, user_notice: user_notice.repeat(500) },
    `${JSON.stringify(body)}}`,
  ]
  for (const [i, one] of bent.entries()) t.ok((await ask('user', url, one, `bent-${i}`)).status >= 400)
  t.equal((await ask('user', url, { ...body, user_notice: `${user_notice}2` }, 'one')).status, 422)
  t.equal((await ask('operator', status, { status: 'pending', note }, 'three')).status, 422)
  t.equal((await ask('operator', status, { status: note, note }, 'four')).status, 422)

  const tables = await queryRows(
    database,
    `select relname as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'`,
  )
  t.ok(tables.some(({ name }) => name === 'vault_records'))
  const bank = Buffer.from(account_number)
  const forms = [...Object.values(canaries), bank.toString('base64').slice(0, 20), bank.toString('hex')]
  const silent = (what: string, text: string): void => {
    t.same(
      forms.filter((form) => text.includes(form)),
      [],
      what,
    )
  }
  for (const { name } of tables) {
    const rows = await queryRows(database, `select r::text as row from ${name} r`)
    silent(`table ${name}`, rows.map(({ row }) => row).join('\n'))
  }
  const [kept] = await queryRows(database, 'select count(*) from vault_records')
  t.same(kept, { count: '2' }, 'it is there, encrypted')
  silent('errors', errors.join('\n'))
  t.equal(errors.length, bent.length + 3)
  // Without an account of FCM, notifications are logged. Their texts name people.
  const logged = () =>
    service
      .output()
      .split('\n')
      .find((line) => line.includes('"identifier":"agency-withdrawal"'))
  await until(() => logged() !== undefined)
  t.match(JSON.parse(logged() ?? ''), { user_id: 90, position: Number, type: 'withdrawal' })
  t.notMatch(logged(), /Amina|dollars/)
  silent('logs', service.output())
  t.match(service.output(), /"level":/, 'there are logs')
})
