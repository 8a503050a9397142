import { Kysely, PostgresDialect } from 'kysely'
import { test } from 'tap'
import type { Tables } from '../../../src/db/tables.ts'
import { hydrateSealed } from '../../../src/features/agency/withdrawals/vault-access.ts'
import { erasedUid } from '../../../src/features/users/user.ts'
import { destroyRecords } from '../../../src/vault/reads.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { queryRows, testVault } from '../../harness/ledger/test-executor.ts'
import { agencyApp, bank, cash, dataOf, gold, person, requests } from './agency-fixture.ts'

interface Listed {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly next_cursor: string | null }
}

test('requests of withdrawals', async (t) => {
  const { user, operator, staff, database, ledger } = await agencyApp(t)
  const finance = staff('fay', 'finance')

  await t.test('histories can be filtered and paged', async (t) => {
    const ask = async (by: number, body: object) =>
      Number(dataOf(await user(by)('POST', `${requests}/request`, body)).id)
    const one = { ...gold, amount_in_dollars: 1 }
    const a = await ask(1, one)
    const b = await ask(1, { ...cash, amount_in_dollars: 2 })
    const c = await ask(1, { ...one, agent_benefit: 1 })
    const d = await ask(2, { ...one, target_user_id: 5, country_id: 2 })
    const e = await ask(2, one)
    await user(4)('POST', `${requests}/${e}/status`, { status: 'approved' })
    await user(4)('POST', `${requests}/${c}/status`, { status: 'approved' })
    await user(4)('POST', `${requests}/${c}/status`, { status: 'transferred' })
    await user(1)('POST', `${requests}/${b}/status`, { status: 'rejected' })

    const ids = ({ data }: Listed): number[] => data.map(({ id }) => id)
    const list = async (by: number | 'staff', query: string): Promise<Listed> => {
      const { status, body } = await (by === 'staff' ? operator : user(by))(
        'GET',
        `${by === 'staff' ? '/admin/v1/withdrawals' : requests}?${query}`,
      )
      t.equal(status, 200, query)
      return Object(body)
    }
    const table: [number | 'staff', string, number[]][] = [
      [1, '', [b, a]],
      [1, 'type=gold_agent', [a]],
      [1, 'type=cash&status=', [b]],
      [1, 'status=pending', [a]],
      [1, 'status=rejected', [b]],
      [1, 'status=transferred', []],
      [1, 'status=transferred&agent_benefit=1', [c]],
      [1, 'agent_benefit=1', [c]],
      [1, 'agent_benefit=false', [b, a]],
      [1, 'agent_benefit=true&status=pending', []],
      [1, 'received=1', []],
      [1, 'received=0', [b, a]],
      [1, 'agent_benefit=', [b, a]],
      [2, '', [e, d]],
      [4, 'received=1', [e, c, a]],
      [4, 'received=1&agent_benefit=1', [c]],
      [4, 'received=1&agent_benefit=0', [e, a]],
      [4, 'received=true&status=approved', [e]],
      [5, 'received=1', [d]],
      [7, 'received=1&type=cash', [b]],
      [7, 'received=1&type=gold_agent', []],
      ['staff', '', [e, d, c, b, a]],
      ['staff', 'status=approved&type=gold_agent', [e]],
      ['staff', 'agent_benefit=1', [c]],
    ]
    for (const [by, query, expected] of table) t.same(ids(await list(by, query)), expected, `${by}: ${query}`)

    const first = await list('staff', 'limit=2')
    t.same(ids(first), [e, d])
    const second = await list('staff', `limit=2&cursor=${first.meta.next_cursor}`)
    t.same(ids(second), [c, b])
    const last = await list('staff', `limit=2&cursor=${second.meta.next_cursor}`)
    t.same([ids(last), last.meta.next_cursor], [[a], null])

    for (const query of ['type=silver', 'status=done', 'agent_benefit=2', 'received=yes', 'limit=0', 'cursor=!']) {
      t.match(await user(1)('GET', `${requests}?${query}`), { status: 422, body: { code: 'validation_failed' } }, query)
    }
    t.equal((await finance('GET', '/admin/v1/withdrawals')).status, 200)
    t.equal((await finance('POST', `/admin/v1/withdrawals/${a}/status`, { status: 'rejected' })).status, 403)
  })

  await t.test('finance sees the last four characters of an account number, none of them split', async (t) => {
    const account_number = '12345\u{1F600}\u{1F601}6\u{1F602}'
    const texts = { bank_details: { ...bank, account_number }, user_notice: 'by Friday' }
    const body = { ...cash, amount_in_dollars: 1, ...texts }
    const made = await user(1)('POST', `${requests}/request`, body)
    t.equal(made.status, 201)
    const masked = {
      bank_details: { bank_name: '****', account_name: '****', account_number: '****\u{1F600}\u{1F601}6\u{1F602}' },
      user_notice: null,
    }
    t.match(dataOf(await finance('GET', '/admin/v1/withdrawals?limit=1')), [masked])
    t.match(dataOf(await finance('GET', `/admin/v1/withdrawals/${dataOf(made).id}`)), masked, 'also of one request')
  })

  await t.test('refused status changes and invalid bodies', async (t) => {
    const id = Number(dataOf(await user(1)('POST', `${requests}/request`, gold)).id)
    const change = (by: number, at: number | string, body: object) => user(by)('POST', `${requests}/${at}/status`, body)
    t.match(await change(1, 99_999, { status: 'rejected', note: 'x' }), { status: 404, body: { code: 'not_found' } })
    t.match(await change(1, 'abc', { status: 'rejected' }), { status: 404 })
    t.match(await change(3, id, { status: 'rejected' }), { status: 403, body: { code: 'not_your_withdrawal' } })
    t.match(await change(4, id, { status: 'done' }), { status: 422, body: { code: 'validation_failed' } })
    t.match(await change(4, id, { status: 'approved', note: 'x'.repeat(501) }), { status: 422 })
    const faults: [object, object][] = [
      [{ ...gold, type: 'silver' }, { type: Array }],
      [{ ...gold, target_user_id: '4' }, { target_user_id: Array }],
      [{ ...gold, beneficiary_user_id: undefined }, { beneficiary_user_id: ['This field is required.'] }],
      [{ ...gold, amount_in_dollars: undefined }, { amount_in_dollars: ['This field is required.'] }],
      [{ ...gold, country_id: 0 }, { country_id: Array }],
      [{ ...gold, agent_benefit: 'yes' }, { agent_benefit: Array }],
      [
        { ...cash, bank_details: { ...bank, bank_name: '' } },
        { 'bank_details.bank_name': ['The text must not be empty.'] },
      ],
      [{ ...cash, bank_details: 'mine' }, { bank_details: Array }],
      [{ ...cash, user_notice: 'x'.repeat(501) }, { user_notice: Array }],
    ]
    for (const [body, errors] of faults) {
      const response = await user(1)('POST', `${requests}/request`, body)
      t.match(response, { status: 422, body: { code: 'validation_failed', errors } }, JSON.stringify(errors))
    }
    const wire = await user(1)('POST', `${requests}/request`, { type: 'wire' })
    t.equal(Object.keys(Object(wire.body).errors)[0], 'type', 'which decides about the other fields')
  })

  await t.test('a replay with an unreadable vault fails; a new reply reads nothing that it has written', async (t) => {
    const ask = () =>
      user(1)('POST', `${requests}/request`, { ...gold, user_notice: 'soon' }, { 'idempotency-key': 'k' })
    t.equal((await ask()).status, 201)
    await queryRows(database, 'alter table vault_records rename column sealed to unreadable')
    const again = await ask()
    t.equal(again.status, 500)
    t.equal(again.headers['idempotency-replayed'], undefined)
    await queryRows(database, 'alter table vault_records rename column unreadable to sealed')
    t.equal((await ask()).headers['idempotency-replayed'], 'true')

    // A database that cannot be reached.
    const nowhere = new Kysely<Tables>({
      dialect: new PostgresDialect({
        pool: { connect: () => Promise.reject(new Error('looked')), end: async () => {}, options: {} },
      }),
    })
    const reveal = hydrateSealed(
      nowhere,
      testVault,
      new Map([
        ['a', '{"bank_details":null,"payment_method":null,"user_notice":"soon"}'],
        ['b', 'no'],
      ]),
    )
    t.match(await reveal({ data: { type: 'gold_agent', sealed: { details: 'a', note: 'b' } } }), {
      data: { user_notice: 'soon', note: 'no' },
    })
    await t.rejects(reveal({ data: { type: 'gold_agent', sealed: { details: 'a', note: 'c' } } }), {
      message: 'looked',
    })
  })

  await t.test('charging agents who accept requests are listed newest first, with countries and rates', async (t) => {
    const expected = [
      { ...person(5), countries: [{ id: 2, name: 'Country 2', diamonds_per_dollar: 10_002 }] },
      {
        ...person(4),
        countries: [
          { id: 1, name: 'Country 1', diamonds_per_dollar: 10_001 },
          { id: 2, name: 'Country 2', diamonds_per_dollar: 10_002 },
        ],
      },
    ]
    const list = async () => (await user(1)('GET', `${requests}/charging-agents`)).body
    t.same(await list(), { data: expected })
    await operator('PUT', '/admin/v1/users/6', { allow_receive_withdraw_requests: 1 })
    await operator('PUT', '/admin/v1/users/4', { charging_agent: 0 })
    t.match(await list(), { data: [{ id: 6 }, { id: 5 }] })
  })

  await t.test(
    'private texts are stored in the vault, shown to the parties, repeated on retries, and erased',
    async (t) => {
      const db = readDb(t, database)
      const body = { ...cash, amount_in_dollars: '12.50', user_notice: 'by Friday' }
      const key = { 'idempotency-key': 'cash-1' }
      const made = await user(3)('POST', `${requests}/request`, body, key)
      const { id } = dataOf(made)
      t.match(made, { status: 201, text: /"amount_in_dollars":12\.5,/ })
      const status = `${requests}/${id}/status`
      const noted = await user(7)('POST', status, { status: 'approved', note: 'ref 17' }, { 'idempotency-key': 'ok' })
      await operator('POST', `/admin/v1/withdrawals/${id}/status`, { status: 'transferred', note: 'ref 18' })

      const whole = { bank_details: bank, user_notice: 'by Friday', payment_method: null, note: 'ref 18' }
      t.match(dataOf(await user(3)('GET', requests)), [whole])
      t.match(dataOf(await user(7)('GET', `${requests}?received=1`)), [whole])
      t.match(dataOf(await operator('GET', '/admin/v1/withdrawals')), [whole])
      t.match(dataOf(await finance('GET', '/admin/v1/withdrawals')), [{ note: 'ref 18' }])

      const replayed = { 'idempotency-replayed': 'true' }
      const again = await user(3)('POST', '/v1/agency/target-withdraw-requests/request', body, key)
      t.match(again, { status: 201, text: made.text, headers: replayed }, 'the first response, byte for byte')
      const sameNote = { note: 'ref 17', status: 'approved' }
      const notedAgain = await user(7)('POST', status, sameNote, { 'idempotency-key': 'ok' })
      t.match(notedAgain, { text: noted.text, headers: replayed }, 'with the former note')
      const reused = { code: 'idempotency_key_reused' }
      const otherBank = { ...body, bank_details: { ...bank, account_number: 'EG380019000501' } }
      t.match((await user(3)('POST', `${requests}/request`, otherBank, key)).body, reused)
      t.match((await user(3)('POST', `${requests}/request`, { ...body, user_notice: 'x' }, key)).body, reused)
      t.match(
        (await user(7)('POST', status, { status: 'approved', note: 'x' }, { 'idempotency-key': 'ok' })).body,
        reused,
      )
      t.same(
        await queryRows(database, 'select count(*) from vault_records natural join vault_keys where user_id = 3'),
        [{ count: '3' }],
        'nothing is stored twice',
      )

      const poor = { ...body, amount_in_dollars: 900 }
      t.match((await user(3)('POST', `${requests}/request`, poor)).body, { code: 'insufficient_balance' })
      t.same(
        await queryRows(database, 'select count(*) from vault_keys where user_id = 3'),
        [{ count: '3' }],
        'nor what was refused',
      )

      // As an erasure does before it deletes the records.
      const uid = erasedUid('0'.repeat(32))
      await queryRows(database, `update user_profiles set name = '', avatar = '', uid = '${uid}' where user_id = 3`)
      t.equal(await destroyRecords(db, 3), 3)
      const erased = { bank_details: null, user_notice: null, payment_method: null, note: null }
      t.match(dataOf(await user(3)('GET', requests)), [{ id, status: 'transferred', ...erased }])
      t.match((await user(3)('POST', `${requests}/request`, body, key)).body, {
        data: { id, status: 'pending', ...erased },
      })
      t.same((await verifyDatabase(database)).findings, [])
    },
  )
  t.same(ledger.bugs, [])
})
