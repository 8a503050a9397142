import { array, assert, constantFrom, jsonValue, nat, oneof, property, record, string, uuid } from 'fast-check'
import { escapeLiteral } from 'pg'
import { test } from 'tap'
import { eventTypes } from '../../../../schema/events.ts'
import { currencies, holders, isAccount, type Movement } from '../../../../src/ledger/rules/account.ts'
import {
  appendData,
  fieldsOf,
  packData,
  packId,
  packMovements,
  patternOf,
  unpackData,
  unpackId,
  unpackMovements,
} from '../../../../src/ledger/storage/packed-columns.ts'
import { isReadByEvolvers, Utf8Builder } from '../../../../src/ledger/storage/text-bytes.ts'
import { seededLedger } from '../../../audit/seed-ledger.ts'
import { queryRows } from '../../../harness/ledger/test-executor.ts'
import { openClient } from '../../../harness/postgres/connections.ts'
import { testDatabase } from '../../../harness/postgres/test-database.ts'
import { runs } from '../../../harness/properties.ts'

const names = holders.flatMap((holder) =>
  currencies.flatMap((currency) =>
    ['7', '70', '9007199254740991', 'gifts', 'c', 'a-b', 'p-1'].map((id) => `${holder}:${id}:${currency}`),
  ),
)
const accounts = constantFrom(...names.filter(isAccount))
const movements = array(
  record({ debit: accounts, credit: accounts, amount: nat().map((n) => n + 1) }, { noNullPrototype: true }),
  { maxLength: 6 },
)

const listOf = (texts: readonly string[]): string => `array[${texts.map(escapeLiteral).join()}]`

const unpacked = (packed: string): Movement[] => unpackMovements(packed)

test('movements are packed without loss, and those that evolvers read are found', async (t) => {
  t.equal(new Set(holders.map((holder) => holder[0])).size, holders.length, 'kinds have letters of their own')
  assert(
    property(movements, (all) => {
      const packed = packMovements(all)
      t.same(unpacked(packed), all)
      const read = all.filter(({ debit, credit }) => isReadByEvolvers(debit) || isReadByEvolvers(credit))
      t.same(unpackMovements(packed, 'read by evolvers'), read)
    }),
    runs(300),
  )
})

test('the pattern of accounts finds the events that move them, and no others', async (t) => {
  const database = await testDatabase()
  for (const [account, ...others] of [
    ['user:7:coins', 'user:77:coins', 'user:7:diamonds', 'user:17:coins', 'issuance:u7c:coins'],
    ['user:7:dollars', 'user:7:agent_dollars', 'user:70:dollars'],
    ['house:a-b:coins', 'house:a_b:coins', 'house:xa-b:coins'],
  ] as const) {
    const events = [account, ...others].flatMap((name) => [
      [{ debit: name, credit: 'debt:1:coins', amount: 5 }],
      [
        { debit: 'debt:1:coins', credit: 'debt:2:coins', amount: 5 },
        { debit: 'debt:1:coins', credit: name, amount: 5 },
      ],
    ])
    const found = await queryRows(
      database,
      `select place from unnest(${listOf(events.map(packMovements))}) with ordinality as e (movements, place)
       where movements ~ ${escapeLiteral(patternOf([account, 'room:1:coins']))}`,
    )
    t.same(found, [{ place: '1' }, { place: '2' }], account)
  }
})

test('ids are packed without loss', async (t) => {
  const id = oneof(
    uuid(),
    uuid().map((text) => text.toUpperCase()),
    string({ minLength: 16, maxLength: 16 }),
    string(),
  )
  assert(
    property(id, (text) => {
      // As the contract of keys has it: what HTTP admits is printable ASCII.
      if (text.startsWith('\0')) return
      t.equal(unpackId(Buffer.from(packId(text), 'hex')), text)
    }),
    runs(300),
  )
  t.equal(packId('00000000-0000-4000-8000-000000000000').length, 32)
})

test('data is packed without loss, whatever its values and however many of them', async (t) => {
  const type = 'gift-drawn'
  const fields = fieldsOf(type, eventTypes[type].version)
  const others = oneof(constantFrom(...fields), string())
  assert(
    property(
      nat(fields.length),
      array(jsonValue(), { minLength: 40, maxLength: 40 }),
      others,
      (count, values, other) => {
        const data = Object.fromEntries(fields.slice(0, count).map((name, i) => [name, values[i]]))
        const packed = packData(type, 1, data, JSON.stringify(data))
        t.match(packed, /^\[/)
        t.equal(unpackData(type, 1, packed), JSON.stringify(data))
        const more = { ...data, [`${other}?`]: values[39] }
        const kept = packData(type, 1, more, JSON.stringify(more))
        t.equal(unpackData(type, 1, kept), JSON.stringify(more))
      },
    ),
    runs(200),
  )
})

test('PostgreSQL unpacks as the service does, and the events of the rules are packed', async (t) => {
  const database = await seededLedger()
  const shown = await queryRows(
    database,
    'select data, movements, request_id, idempotency_key from ledger order by position',
  )
  const stored = await queryRows(
    database,
    `select type, version, data, movements, encode(request_id, 'hex') as request_id,
            encode(idempotency_key, 'hex') as idempotency_key
     from ledger_events order by position`,
  )
  t.same(
    stored.map(({ type, version, data, movements: packed, request_id, idempotency_key }) => ({
      data: unpackData(String(type), Number(version), String(data)),
      movements: unpacked(String(packed))
        .map(({ debit, credit, amount }) => `${debit} ${credit} ${amount};`)
        .join(''),
      request_id: unpackId(Buffer.from(String(request_id), 'hex')),
      idempotency_key: idempotency_key === null ? null : unpackId(Buffer.from(String(idempotency_key), 'hex')),
    })),
    shown,
  )
  t.same(
    stored.filter(({ data }) => !String(data).startsWith('[')),
    [],
  )
  t.same(
    await queryRows(
      database,
      "select ledger_id(convert_to(gen_random_uuid()::text, 'UTF8')) ~ '^.x[0-9a-f]{72}$' as is_hex",
    ),
    [{ is_hex: 't' }],
    'a UUID that is not packed as one',
  )
  const all = names.filter(isAccount)
  const packed = all.map((debit) => packMovements([{ debit, credit: debit, amount: 1 }]).split('>')[0] ?? '')
  t.same(
    await queryRows(database, `select ledger_account(code) as name from unnest(${listOf(packed)}) as code`),
    all.map((name) => ({ name })),
  )
})

test('a list is packed as the service packs it only when its last string ends', (t) => {
  const text = new Utf8Builder()
  for (const [packed, isPacked] of [
    ['[]', true],
    ['[7,["]",{}],"a\\\\"]', true],
    ['["]', false],
    ['[7,"a]', false],
    ['[7,"a\\"]', false],
  ] as const) {
    const bytes = Buffer.from(packed)
    t.equal(appendData(text, bytes, 0, bytes.length, 'bag-items-added', 1), isPacked, packed)
  }
  t.end()
})

test('movements of one event are unpacked without those of others, and data in parallel queries', async (t) => {
  const client = await openClient(t, (await seededLedger()).serviceUrl)
  await client.query('set enable_seqscan = off')
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off, timing off, summary off)
     select * from ledger_movements where position in (select position from ledger_events where position = any ('{14}'))`,
  )
  const read = rows.flatMap((row) => /on ledger_events.* rows=([0-9]+)/.exec(row['QUERY PLAN'])?.[1] ?? [])
  t.ok(read.length > 0)
  t.same(
    read.filter((count) => count !== '1'),
    [],
  )

  await client.query(`select set_config(name, 'on', false) from pg_settings
                      where name in ('debug_parallel_query', 'force_parallel_mode')`)
  await client.query('select * from ledger')
})
