import { test } from 'tap'
import type { Finding } from '../../../src/audit/finding.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { copyOf } from '../../harness/postgres/test-database.ts'
import {
  grownLedger,
  indexUpTo,
  positionsOf,
  runRandomCommands,
  startIndexer,
  untilIndexed,
} from '../../ledger/indexes/index-fixture.ts'
import { seededLedger } from '../seed-ledger.ts'
import { tamper, verifyDatabase } from '../verify-database.ts'

const HOUSE = 'house:gifts:diamonds'

test('whatever is changed in the indexes is found, up to their cursor', async (t) => {
  const sound = await grownLedger()
  const { head } = await positionsOf(sound)
  for (const indexed of [0, 400, 500, 1_030, head]) {
    await indexUpTo(sound, indexed)
    t.same((await verifyDatabase(sound)).findings, [], `indexed up to ${indexed}`)
  }
  const row = async (where: string) =>
    (await queryRows(sound, `select base, offsets, balance from account_index where ${where}`))[0]
  const house = await row(`account = '${HOUSE}' and base = 500`)
  const added = Number(house?.['balance']) + 1

  const finding = (table: string, id: string, message: string): Partial<Finding>[] => [
    { check: 'projection', position: null, table, id, message },
  ]
  const missing = 'the row is missing from the table'
  const foreign = 'the row does not follow from the ledger'
  const ofHouse = (base: number): string => `account = '${HOUSE}' and base = ${base}`
  const cases: [title: string, statement: string, findings: Partial<Finding>[]][] = [
    [
      'a balance',
      `update account_index set balance = balance + 1 where ${ofHouse(500)}`,
      finding('account_index', `${HOUSE}:500`, `balance is ${added}, expected ${added - 1}`),
    ],
    [
      'a fraction of a balance',
      `update account_index set balance = balance + 0.5 where ${ofHouse(500)}`,
      finding('account_index', `${HOUSE}:500`, `balance is ${added - 1}.5, expected ${added - 1}`),
    ],
    [
      'offsets',
      `update account_index set offsets = offsets[2:] where ${ofHouse(0)}`,
      [{ table: 'account_index', id: `${HOUSE}:0` }],
    ],
    [
      'a row deleted in the middle',
      `delete from account_index where ${ofHouse(500)}`,
      finding('account_index', `${HOUSE}:500`, missing),
    ],
    [
      'the last row deleted',
      `delete from account_index where ${ofHouse(1_000)}`,
      finding('account_index', `${HOUSE}:1000`, missing),
    ],
    [
      'a row of nobody',
      `insert into account_index values ('user:77:coins', 500, '{3}', 5)`,
      finding('account_index', 'user:77:coins:500', foreign),
    ],
    [
      'a row between others',
      `insert into account_index values ('${HOUSE}', 777, '{3}', 5)`,
      finding('account_index', `${HOUSE}:777`, foreign),
    ],
    [
      'a row before the ledger',
      `insert into account_index values ('user:77:coins', -500, '{3}', 5)`,
      finding('account_index', 'user:77:coins:-500', foreign),
    ],
    [
      'a row beyond the ledger',
      `insert into account_index values ('user:77:coins', 500000, '{3}', 5)`,
      finding('account_index', 'user:77:coins:500000', foreign),
    ],
    [
      'a row beyond all positions',
      `insert into account_index values ('user:77:coins', 9007199254740991, '{3}', 5)`,
      finding('account_index', 'user:77:coins:9007199254740991', foreign),
    ],
    [
      'terms beyond all positions',
      `insert into event_index values (9223372036854775807, '{1}')`,
      finding('event_index', '9223372036854775807', foreign),
    ],
    [
      'terms',
      'update event_index set terms = terms[2:] where base = 500',
      finding('event_index', '500', 'terms are not those of its events'),
    ],
    ['terms deleted', 'delete from event_index where base = 0', finding('event_index', '0', missing)],
    ['terms added', `insert into event_index values (1000, '{1}')`, finding('event_index', '1000', foreign)],
    [
      'a cursor beyond the ledger',
      `update ledger_cursors set position = ${head + 1} where name = 'indexes'`,
      finding('ledger_cursors', 'indexes', `position is ${head + 1}, which is not on the ledger`),
    ],
    [
      'a cursor that claims events that are not indexed',
      `delete from account_index where base >= 500; delete from event_index where base >= 500`,
      [],
    ],
  ]
  for (const [title, statement, expected] of cases) {
    const database = await copyOf(sound)
    await tamper(database, statement)
    const { findings } = await verifyDatabase(database)
    if (expected.length === 0) t.equal(findings.length, 20, title)
    else {
      t.equal(findings.length, expected.length, title)
      t.match(findings, expected, title)
    }
    t.same((await verifyDatabase(database, head)).findings, [], `${title}: not as of a position`)
  }
})

test('a verification beside the subscriber finds nothing', async (t) => {
  const database = await seededLedger()
  const ledger = createTestExecutor(t, database.serviceUrl)
  startIndexer(t, database)
  for (let i = 0; i < 6; i += 1) {
    const [{ findings }] = await Promise.all([verifyDatabase(database), runRandomCommands(ledger, 700)])
    t.same(findings, [])
  }
  await untilIndexed(database)
  t.same((await verifyDatabase(database)).findings, [])
})
