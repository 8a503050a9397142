import { readFileSync } from 'node:fs'
import { test } from 'tap'
import { queryRows } from '../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import { seededLedger } from './seed-ledger.ts'
import { rechain, tamper } from './verify-database.ts'

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

test('the queries find a changed amount', async (t) => {
  const database = await seededLedger()
  await tamper(database, 'update ledger_events set amount[1] = 9961 where position = 11')
  t.match(await answersTo(database), {
    chain: [{ position: '11', fault: 'the hash differs', is: /^[0-9a-f]{64}$/, ought_to_be: /^[0-9a-f]{64}$/ }],
    doubleEntry: [],
    balances: [
      { account: 'issuance:operator:diamonds', is: '-19960', ought_to_be: '-10039' },
      { account: 'user:2:diamonds', is: '9960', ought_to_be: '39' },
    ],
  })
})

test('the queries find an overdraft, two currencies in one movement, and movements without an account', async (t) => {
  const database = await seededLedger()
  await tamper(
    database,
    'update ledger_events set amount[1] = 10001 where position = 11',
    `update ledger_events set credit[1] = 'issuance:operator:coins' where position = 22`,
    `update ledger_events set debit = array_append(debit, null), credit = array_append(credit, 'user:1:coins'),
       amount = array_append(amount, 5) where position = 8`,
  )
  const { chain, doubleEntry } = await answersTo(database)
  t.match(chain, [{ position: '8' }, { position: '11' }, { position: '22' }])
  t.same(doubleEntry, [
    { fault: 'a currency does not sum to zero', position: null, account: 'coins', balance: '6' },
    { fault: 'a currency does not sum to zero', position: null, account: 'target', balance: '-1' },
    { fault: 'a currency does not sum to zero', position: null, account: null, balance: '-5' },
    {
      fault: 'a movement of two currencies, or of no amount',
      position: '8',
      account: ' to user:1:coins',
      balance: '5',
    },
    { fault: 'overdrawn for the first time', position: '11', account: 'user:2:diamonds', balance: '-1' },
    {
      fault: 'a movement of two currencies, or of no amount',
      position: '22',
      account: 'room:9:target to issuance:operator:coins',
      balance: '1',
    },
  ])
})

test('an overdraft within one event is not a finding', async (t) => {
  const database = await seededLedger()
  // The stake is taken after the reward was given: only what is left at the end counts.
  await tamper(
    database,
    `update ledger_events set debit = array['user:3:coins', 'issuance:operator:coins'],
       credit = array['issuance:operator:coins', 'user:3:coins'], amount = array[5, 7] where position = 1`,
  )
  await rechain(database)
  t.same(await ask(database, 'double-entry'), [])
})

test('the queries find missing events and a wrong head', async (t) => {
  const database = await seededLedger()
  await tamper(
    database,
    'delete from ledger_events where position in (1, 5, 6)',
    'delete from ledger_events where position = 22',
  )
  t.match(await ask(database, 'chain'), [
    { position: '1', fault: 'missing up to position 1' },
    { position: '2', fault: 'the hash differs' },
    { position: '5', fault: 'missing up to position 6' },
    { position: '7', fault: 'the hash differs' },
    { position: '21', fault: 'the head is elsewhere', is: /^22 /, ought_to_be: /^21 / },
  ])
  await tamper(database, 'delete from ledger_events')
  t.match(await ask(database, 'chain'), [{ position: '0', fault: 'the head is elsewhere', ought_to_be: /^0 0{64}$/ }])
})

test('the queries find two swapped events', async (t) => {
  const database = await seededLedger()
  await tamper(
    database,
    'update ledger_events set position = 100 where position = 8',
    'update ledger_events set position = 8 where position = 9',
    'update ledger_events set position = 9 where position = 100',
  )
  t.match(await ask(database, 'chain'), [{ position: '8' }, { position: '9' }, { position: '10' }])
})
