import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { seededLedger } from './seed-ledger.ts'
import { changed, keepRows, tamper, verifyDatabase } from './verify-database.ts'

const SHA256 = /^[0-9a-f]{64}$/
const questions = ['chain', 'double-entry', 'balances'] as const

const ask = (database: TestDatabase, question: (typeof questions)[number]) =>
  queryRows(database, readFileSync(new URL(`../../sql/audit/${question}.sql`, import.meta.url), 'utf8'))

const answersTo = async (database: TestDatabase) => ({
  chain: await ask(database, 'chain'),
  doubleEntry: await ask(database, 'double-entry'),
  balances: await ask(database, 'balances'),
})

test('the queries of finance return no rows on sound books', async (t) => {
  for (const question of questions) t.same(await ask(await testDatabase(), question), [])
  const database = await seededLedger()
  t.same(await answersTo(database), { chain: [], doubleEntry: [], balances: [] })
})

test('the queries find what was changed', async (t) => {
  const finding = (position: string | null, account: string, balance: string) => ({
    finding: position === null ? 'a currency does not sum to zero' : 'a movement of two currencies, or of no amount',
    position,
    account,
    balance,
  })
  const cases: [statements: string[], found: Partial<Record<keyof Awaited<ReturnType<typeof answersTo>>, object[]>>][] =
    [
      [
        [changed(11, 'amount[1] = 9961')],
        {
          chain: [{ position: '11', finding: 'the hash differs', is: SHA256, ought_to_be: SHA256 }],
          doubleEntry: [],
          balances: [
            { account: 'issuance:operator:diamonds', is: '-19960', ought_to_be: '-10039' },
            { account: 'user:2:diamonds', is: '9960', ought_to_be: '39' },
          ],
        },
      ],
      [
        [
          changed(11, 'amount[1] = 10001'),
          changed(22, `credit[1] = 'issuance:operator:coins'`),
          changed(
            8,
            `debit = debit || 'nobody'::text, credit = credit || 'user:1:coins'::text, amount = amount || 5::bigint`,
          ),
        ],
        {
          chain: [{ position: '8' }, { position: '11' }, { position: '22' }],
          doubleEntry: [
            finding(null, '', '-5'),
            finding(null, 'coins', '6'),
            finding(null, 'target', '-1'),
            { finding: 'overdrawn for the first time', position: '8', account: 'nobody', balance: '-5' },
            finding('8', 'nobody to user:1:coins', '5'),
            { finding: 'overdrawn for the first time', position: '11', account: 'user:2:diamonds', balance: '-1' },
            finding('22', 'room:9:target to issuance:operator:coins', '1'),
          ],
        },
      ],
      [
        [changed(11, `credit[1] = 'debt:2:diamonds'`)],
        { doubleEntry: [{ finding: 'paid more than was owed for the first time', position: '11', balance: '40' }] },
      ],
      [
        ['delete from ledger_events where position in (1, 5, 6, 22)'],
        {
          chain: [
            { position: '1', finding: 'missing up to position 1' },
            { position: '2', finding: 'the hash differs' },
            { position: '5', finding: 'missing up to position 6' },
            { position: '7', finding: 'the hash differs' },
            { position: '21', finding: 'the head is elsewhere', is: /^22 /, ought_to_be: /^21 / },
          ],
        },
      ],
      [
        ['delete from ledger_events'],
        { chain: [{ position: '0', finding: 'the head is elsewhere', ought_to_be: /^0 0{64}$/ }] },
      ],
      [
        [changed(8, 'position = 100'), changed(9, 'position = 8'), changed(100, 'position = 9')],
        { chain: [{ position: '8' }, { position: '9' }, { position: '10' }] },
      ],
      // An overdraft within one event is no finding: the stake is taken after the reward was given.
      [
        [
          changed(
            1,
            `debit = array['user:3:coins', 'issuance:operator:coins'],
           credit = array['issuance:operator:coins', 'user:3:coins'], amount = array[5, 7]`,
          ),
        ],
        { doubleEntry: [] },
      ],
    ]
  const database = await seededLedger()
  const restore = await keepRows(database, 'ledger_events')
  for (const [statements, found] of cases) {
    await tamper(database, ...statements)
    const answers = await answersTo(database)
    t.match(answers, found, statements.join('; '))
    for (const [question, rows] of Object.entries(found)) t.equal(Object(answers)[question].length, rows.length)
    await restore()
  }
})

test('a row that cannot be unpacked, or not to the last byte, is found and stops no query', async (t) => {
  const database = await seededLedger()
  const restore = await keepRows(database, 'ledger_events')
  for (const change of [
    `data = left(data, -1) || ',"more"]'`,
    `data = left(data, -1) || ',"more]'`,
    `data = replace(data, ',', ', ')`,
    `data = data || ' '`,
    `data = repeat('[', 100000)`,
    `data = replace(data, '[', '[[')`,
    `movements = movements || ' 5'`,
    `movements = movements || '>u9t 5'`,
    `movements = movements || ','`,
    `request_id = '\\x0000' || idempotency_key`,
    `request_id = '\\x00' || rpad(convert_from(request_id, 'UTF8'), 16, '0')::bytea`,
    `request_id = '\\xff'`,
    `idempotency_key = '\\x00' || idempotency_key`,
    `idempotency_key = idempotency_key || '\\x00'`,
    `idempotency_key = '\\xf09f98'`,
  ]) {
    await tamper(database, `update ledger_events set ${change} where position = 14`)
    const { chain } = await answersTo(database)
    t.match(chain, [{ position: '14', finding: 'the hash differs' }], change)
    t.match((await verifyDatabase(database)).findings, [{ position: 14 }], change)
    await restore()
  }
})
