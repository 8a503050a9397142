import { test } from 'tap'
import { formatFinding } from '../../../src/audit/verify/finding.ts'
import { hashText } from '../../../src/audit/verify/indexes/event-terms.ts'
import { createTestExecutor, queryRows } from '../../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../../harness/long-tests.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import {
  grownLedger,
  indexUpTo,
  positionsOf,
  runRandomCommands,
  startIndexer,
  untilIndexed,
} from '../../ledger/indexes/index-fixture.ts'
import { seededLedger } from '../seed-ledger.ts'
import { keepRows, tamper, verifyDatabase } from '../verify-database.ts'

const HOUSE = 'house:gifts:diamonds'
const OTHER = 'user:1:diamonds'

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

  const missing = 'the row is missing from the table'
  const foreign = 'the row does not follow from the ledger'
  const ofHouse = (base: number): string => `account = '${HOUSE}' and base = ${base}`
  const insert = (account: string, base: bigint | number): string =>
    `insert into account_index values ('${account}', ${base}, '{3}', 5)`
  const cases: [statement: string, finding: string][] = [
    [
      `update account_index set balance = balance + 1 where ${ofHouse(500)}`,
      `account_index ${HOUSE}:500: balance is ${added}, expected ${added - 1}`,
    ],
    [
      `update account_index set balance = balance + 0.5 where ${ofHouse(500)}`,
      `account_index ${HOUSE}:500: balance is ${added - 1}.5, expected ${added - 1}`,
    ],
    [`update account_index set offsets = offsets[2:] where ${ofHouse(0)}`, `account_index ${HOUSE}:0: offsets is `],
    [`delete from account_index where ${ofHouse(500)}`, `account_index ${HOUSE}:500: ${missing}`],
    [`delete from account_index where ${ofHouse(1_000)}`, `account_index ${HOUSE}:1000: ${missing}`],
    [insert('user:77:coins', 500), `account_index user:77:coins:500: ${foreign}`],
    [insert(HOUSE, 777), `account_index ${HOUSE}:777: ${foreign}`],
    [insert('user:77:coins', -500), `account_index user:77:coins:-500: ${foreign}`],
    [insert('user:77:coins', 500_000), `account_index user:77:coins:500000: ${foreign}`],
    [insert('user:77:coins', 2n ** 53n - 1n), `account_index user:77:coins:9007199254740991: ${foreign}`],
    [`insert into event_index values (${2n ** 63n - 1n}, '{1}')`, `event_index 9223372036854775807: ${foreign}`],
    ['update event_index set terms = terms[2:] where base = 500', 'event_index 500: terms are not those of its events'],
    ['delete from event_index where base = 0', `event_index 0: ${missing}`],
    [`insert into event_index values (1000, '{1}')`, `event_index 1000: ${foreign}`],
    ...['update event_index set terms = terms || 2147483647', 'update event_index set terms[1] = terms[1] - 1'].map(
      (change): [string, string] => [
        `${change} where base = 500`,
        'event_index 500: terms are not those of its events',
      ],
    ),
    ['delete from event_index where base = 500', `event_index 500: ${missing}`],
    ...[
      'balance = balance * 10000',
      'balance = -balance',
      `balance = 'NaN'`,
      'balance = balance + 36893488147419103232',
      'offsets = offsets || null::smallint',
      `offsets = '{}'`,
    ].map((change): [string, string] => [
      `update account_index set ${change} where ${ofHouse(500)}`,
      `account_index ${HOUSE}:500: `,
    ]),
    [
      `update ledger_cursors set position = ${head + 1} where name = 'indexes'`,
      `ledger_cursors indexes: position is ${head + 1}, which is not on the ledger`,
    ],
  ]
  const restore = await keepRows(sound, 'account_index', 'event_index', 'ledger_cursors')
  for (const [statement, finding] of cases) {
    await tamper(sound, statement)
    const findings = (await verifyDatabase(sound)).findings.map(formatFinding)
    t.equal(findings.length, 1, statement)
    t.ok(findings[0]?.startsWith(`projection: ${finding}`), `${statement}: ${findings[0]}`)
    await restore()
  }
  // Two changes whose effects on sums could cancel each other.
  for (const change of [
    `update account_index a set balance = b.balance from account_index b
     where a.base = 500 and b.base = 500 and (a.account, b.account) in (('${HOUSE}', '${OTHER}'), ('${OTHER}', '${HOUSE}'))`,
    `update account_index set balance = balance + case account when '${HOUSE}' then 1 else -1 end
     where base = 500 and account in ('${HOUSE}', '${OTHER}')`,
  ]) {
    await tamper(sound, change)
    t.equal((await verifyDatabase(sound)).findings.length, 2, change)
    await restore()
  }
  // The cursor claims events that are not indexed.
  await tamper(sound, 'delete from account_index where base >= 500', 'delete from event_index where base >= 500')
  t.equal((await verifyDatabase(sound)).findings.length, 20)
  t.same((await verifyDatabase(sound, head)).findings, [], 'not as of a position')
})

test('a verification beside the subscriber finds nothing', { skip: onlyInFullRun }, async (t) => {
  const database = await seededLedger()
  const ledger = createTestExecutor(t, database.serviceUrl)
  startIndexer(t, database)
  for (let i = 0; i < 6; i += 1) {
    const [{ findings }] = await Promise.all([verifyDatabase(database), runRandomCommands(ledger, 400)])
    t.same(findings, [])
  }
  await untilIndexed(database)
  t.same((await verifyDatabase(database)).findings, [])
})

test('texts are hashed as PostgreSQL does', async (t) => {
  const database = await testDatabase()
  const texts = [...Array.from({ length: 40 }, (_, i) => 'aé€😀"z'.repeat(7).slice(0, i)), 'user 12', 'x'.repeat(3_000)]
  const values = texts.map((text) => `('${text}')`).join(', ')
  const rows = await queryRows(database, `select hashtext(text) as hash from (values ${values}) as texts (text)`)
  for (const [i, text] of texts.entries()) {
    const bytes = Buffer.from(`-${text}`)
    t.equal(hashText('', bytes, 1, bytes.length - 1), Number(rows[i]?.['hash']), text)
    if (text.startsWith('user '))
      t.equal(hashText('user ', bytes, 6, bytes.length - 6), Number(rows[i]?.['hash']), text)
  }
  t.equal(hashText('user ', Buffer.alloc(5_000), 0, 5_000), undefined, 'longer than any that is indexed')
})
