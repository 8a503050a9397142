import { test } from 'tap'
import { requestWithdrawal } from '../../../src/features/agency/withdrawals/request-withdrawal.ts'
import { UnreadableRecords } from '../../../src/vault/vault.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { queryRows, testVault } from '../../harness/ledger/test-executor.ts'
import { agencyApp, bank, cash, dataOf, gold, requests } from './agency-fixture.ts'

const junk: readonly unknown[] = [
  {},
  { bank_name: 'x'.repeat(60_000) },
  5,
  true,
  'text',
  [],
  [{}],
  null,
  '\0',
  { bank_name: '\0\ud800' },
]

test('private texts of requests', async (t) => {
  const { user, operator, ledger, database } = await agencyApp(t)

  await t.test('a record that cannot be read is shown as unreadable and stops nothing', async (t) => {
    const key = { 'idempotency-key': 'one' }
    const body = { ...cash, amount_in_dollars: 1, user_notice: 'a notice', payment_method: 'by hand' }
    const make = async (name: string) =>
      Number(dataOf(await user(1)('POST', `${requests}/request`, body, { 'idempotency-key': name })).id)
    const [broken, swapped, keyless] = [await make('one'), await make('two'), await make('three')]
    // A record with a malformed plaintext.
    const odd = testVault.seal(1, JSON.stringify({ bank_details: {}, payment_method: null, user_notice: null }))
    const input = {
      caller_id: 1,
      type: 'cash',
      target_id: 7,
      beneficiary_id: null,
      country_id: 1,
      amount: 100,
    } as const
    const asked = { ...input, agent_benefit: false, details: 'digest' }
    const { withdrawal } = await ledger.runOk(requestWithdrawal(odd), asked, 'user:1')
    const shapeless = withdrawal.withdrawal_id
    const record = (id: number) => `(select details from withdrawals where withdrawal_id = ${id})`
    await queryRows(database, `update vault_records set sealed = 'AAAA' where record_id = ${record(broken)}`)
    await queryRows(
      database,
      `update vault_records set sealed = (select sealed from vault_records where record_id = ${record(shapeless)})
     where record_id = ${record(swapped)}`,
    )
    await queryRows(database, `delete from vault_keys where record_id = ${record(keyless)}`)
    const unreadable = { bank_details: null, payment_method: null, user_notice: null, unreadable: true }
    for (const list of [
      await user(1)('GET', requests),
      await user(7)('GET', `${requests}?received=1`),
      await operator('GET', '/admin/v1/withdrawals'),
    ]) {
      t.match(list, { status: 200, body: { data: [unreadable, unreadable, unreadable, unreadable] } })
    }
    t.match(await user(1)('POST', `${requests}/request`, body, key), {
      status: 201,
      headers: { 'idempotency-replayed': 'true' },
      body: { data: unreadable },
    })
    const readable = await user(2)('POST', `${requests}/request`, body)
    t.notOk('unreadable' in dataOf(readable))
    for (const id of [broken, shapeless, swapped, keyless]) {
      const decided = await operator('POST', `/admin/v1/withdrawals/${id}/status`, {
        status: 'rejected',
        note: 'a note',
      })
      t.match(decided, { status: 200, body: { data: { ...unreadable, note: 'a note', status: 'rejected' } } })
    }
    // A note, too.
    await queryRows(
      database,
      `update vault_records set sealed = '' where record_id =
       (select note from withdrawals where withdrawal_id = ${broken})`,
    )
    t.match(await operator('GET', '/admin/v1/withdrawals?limit=200'), { status: 200 })
  })

  await t.test('bank details of a request for diamonds are ignored, whatever they are', async (t) => {
    const plain = { ...gold, amount_in_dollars: 1, user_notice: 'a notice' }
    const key = { 'idempotency-key': 'diamonds' }
    const first = await user(1)('POST', `${requests}/request`, plain, key)
    for (const bank_details of junk) {
      const made = await user(1)('POST', `${requests}/request`, { ...plain, bank_details, business_manager_id: 'x' })
      t.match(made, { status: 201, body: { data: { bank_details: null, user_notice: 'a notice' } } })
      t.notOk('unreadable' in dataOf(made))
      // Fields of the other type do not count for the request hash.
      const again = await user(1)('POST', `${requests}/request`, { ...plain, bank_details }, key)
      t.match(again, { status: 201, headers: { 'idempotency-replayed': 'true' } })
      t.equal(again.text, first.text)
      const changed = await operator('POST', `/admin/v1/withdrawals/${dataOf(made).id}/status`, { status: 'rejected' })
      t.match(changed, { status: 200, body: { data: { bank_details: null, status: 'rejected' } } })
    }
    const others = { ...cash, amount_in_dollars: 1, beneficiary_user_id: { not: 'an id' }, target_user_id: -1 }
    t.match(await user(1)('POST', `${requests}/request`, others), {
      status: 201,
      body: { data: { beneficiary_user: null, target_user: null } },
    })
    const [{ bytes } = {}] = await queryRows(database, 'select max(octet_length(sealed)) as bytes from vault_records')
    t.ok(Number(bytes) < 1_000, 'nothing of them is stored')
  })

  await t.test('an account number is text, or an integer that is stored as its digits', async (t) => {
    const ask = (account_number: unknown) =>
      user(1)('POST', `${requests}/request`, {
        ...cash,
        amount_in_dollars: 1,
        bank_details: { ...bank, account_number },
      })
    for (const [sent, kept] of [
      [0, '0'],
      [12_345, '12345'],
      [Number.MAX_SAFE_INTEGER, '9007199254740991'],
      ['0012', '0012'],
      ['é'.repeat(200), 'é'.repeat(200)],
    ] as const) {
      t.match(await ask(sent), { status: 201, body: { data: { bank_details: { account_number: kept } } } })
    }
    for (const wrong of ['', 'x'.repeat(201), -1, 1.5, 2 ** 53, true, null, {}, ['1'], 'a\nb', '\0']) {
      t.match(await ask(wrong), { status: 422, body: { code: 'validation_failed' } }, JSON.stringify(wrong))
    }
  })

  await t.test('a change of a request that does not exist yet is not found, and its note is not sealed', async (t) => {
    for (let i = 0; i < 6; i += 1) {
      const [{ position } = {}] = await queryRows(database, 'select position from ledger_head')
      const id = Number(position) + 1
      const [made, changed, decided] = await Promise.all([
        user(1)('POST', `${requests}/request`, { ...cash, amount_in_dollars: 1 }),
        user(7)('POST', `${requests}/${id}/status`, { status: 'rejected', note: 'a note' }),
        operator('POST', `/admin/v1/withdrawals/${id}/status`, { status: 'rejected', note: 'a note' }),
      ])
      t.equal(made.status, 201)
      t.equal(dataOf(made).id, id)
      for (const { status } of [changed, decided]) t.ok([200, 404, 422].includes(status), `answered ${status}`)
      const later = await operator('POST', `/admin/v1/withdrawals/${id}/status`, { status: 'rejected', note: 'a note' })
      t.ok([200, 422].includes(later.status))
    }
    t.same(await queryRows(database, 'select record_id from vault_keys where user_id = 0'), [])
  })

  await t.test('a page of long requests ends early, and no request is left out', async (t) => {
    await operator('POST', '/admin/v1/users/3/credits', { currency: 'dollars', amount: 500, reason: 'more' })
    const long = '😀'.repeat(200)
    const body = {
      ...cash,
      amount_in_dollars: 1,
      bank_details: { bank_name: long, account_name: long, account_number: long },
      user_notice: '😀'.repeat(500),
    }
    const made = await Promise.all(Array.from({ length: 150 }, () => user(3)('POST', `${requests}/request`, body)))
    t.ok(made.every(({ status }) => status === 201))
    for (const [ask, url] of [
      [user(3), requests],
      [operator, '/admin/v1/withdrawals'],
    ] as const) {
      const first = await ask('GET', `${url}?limit=200`)
      t.ok(Buffer.byteLength(first.text) < 1_048_576)
      const { data, meta } = Object(first.body)
      t.ok(data.length < 150 && meta.next_cursor !== null)
      const second = await ask('GET', `${url}?limit=200&cursor=${meta.next_cursor}`)
      const listed = [...data, ...dataOf(second)].map(({ id }) => id)
      t.same(new Set(listed.slice(0, 150)), new Set(made.map((response) => dataOf(response).id)))
    }
  })
  const { findings } = await verifyDatabase(database)
  t.same(
    findings.map(({ check, table }) => [check, table]),
    Array.from({ length: 4 }, () => ['vault', 'vault_records']),
    'what was damaged above, and nothing else',
  )
  t.same(ledger.bugs, [])
})

test('an unreadable record is counted and logged once', async (t) => {
  const lines: object[] = []
  let count = 0
  const records = new UnreadableRecords({ warn: (details) => lines.push(details) }, () => (count += 1))
  for (const id of ['a', 'b', 'a', 'a']) records.report(id, 'not decrypted')
  t.same(lines, [
    { record_id: 'a', reason: 'not decrypted' },
    { record_id: 'b', reason: 'not decrypted' },
  ])
  t.equal(count, 2)
  for (let i = 0; i < 1_000; i += 1) records.report(`c${i}`, 'malformed')
  t.equal(count, 1_002)
  t.equal(lines.length, 100)
})
