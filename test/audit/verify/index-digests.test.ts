import { test } from 'tap'
import { hashText } from '../../../src/audit/verify/indexes/hash-text.ts'
import { rowsBefore } from '../../../src/audit/verify/indexes/index-row-reader.ts'
import { IntegrityChecks } from '../../../src/audit/verify/integrity-checks.ts'
import { checkPage } from '../../../src/audit/verify/row-verifier/row-verifier.ts'
import { Snapshot } from '../../../src/ledger/replay/snapshot.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../../harness/postgres/test-database.ts'
import { grownLedger, indexUpTo, positionsOf } from '../../ledger/indexes/index-fixture.ts'
import { keepRows, tamper } from '../verify-database.ts'

// Where digests differed without need, blocks would be compared row by row: nothing wrong, but slow.

const HOUSE = 'house:gifts:diamonds'
const OTHER = 'user:1:diamonds'

/** The blocks of all events before a position whose digests differ from those of the stored rows. */
async function differingBlocks({ serviceUrl }: TestDatabase, before: number): Promise<readonly number[]> {
  const snapshot = await Snapshot.open(serviceUrl)
  try {
    const checks = new IntegrityChecks()
    checks.expectIndexes()
    for await (const page of snapshot.events(1, null)) checkPage(checks, page)
    for (const table of ['account_index', 'event_index'] as const) {
      for await (const page of snapshot.binaryRows(rowsBefore(table, 0, before))) checks.addIndexRows(table, page)
    }
    return checks.differingBlocks(before)
  } finally {
    await snapshot.close()
  }
}

test('the digests of sound indexes are those of the events, and any change is seen', async (t) => {
  const sound = await grownLedger()
  const { head } = await positionsOf(sound)
  await indexUpTo(sound, head)
  t.same(await differingBlocks(sound, 1_000), [])
  t.same(await differingBlocks(sound, 500), [])

  const ofHouse = `account = '${HOUSE}' and base = 500`
  const changes = [
    `update account_index set balance = balance + 1 where ${ofHouse}`,
    `update account_index set balance = balance * 10000 where ${ofHouse}`,
    `update account_index set balance = -balance where ${ofHouse}`,
    `update account_index set balance = 'NaN' where ${ofHouse}`,
    `update account_index set balance = balance + 0.5 where ${ofHouse}`,
    `update account_index set balance = balance + 36893488147419103232 where ${ofHouse}`,
    `update account_index set offsets = offsets[2:] where ${ofHouse}`,
    `update account_index set offsets = offsets || null::smallint where ${ofHouse}`,
    `update account_index set offsets = '{}' where ${ofHouse}`,
    `update account_index set account = 'house:gifts:coin' where ${ofHouse}`,
    `update account_index set base = 501 where ${ofHouse}`,
    `delete from account_index where ${ofHouse}`,
    `insert into account_index select account, 777, offsets, balance from account_index where ${ofHouse}`,
    'update event_index set terms = terms[2:] where base = 500',
    'update event_index set terms = terms || 2147483647 where base = 500',
    'update event_index set terms[1] = terms[1] - 1 where base = 500',
    'delete from event_index where base = 500',
    'update account_index set balance = -balance where base = 500',
    // Two changes whose effects on sums could cancel each other.
    `update account_index a set balance = b.balance from account_index b
     where a.base = 500 and b.base = 500 and (a.account, b.account) in (('${HOUSE}', '${OTHER}'), ('${OTHER}', '${HOUSE}'))`,
    `update account_index set balance = balance + case account when '${HOUSE}' then 1 else -1 end
     where base = 500 and account in ('${HOUSE}', '${OTHER}')`,
  ]
  const restore = await keepRows(sound, 'account_index', 'event_index')
  for (const change of changes) {
    await tamper(sound, change)
    t.same(await differingBlocks(sound, 1_000), [500], change)
    await restore()
  }
})

test('a balance beyond the numbers that are exact has a digest too', async (t) => {
  const sound = await grownLedger()
  const movement = `debit = '{issuance:bank:coins,issuance:bank:coins,issuance:bank:coins,issuance:bank:coins}',
    credit = '{house:bank:coins,house:bank:coins,house:bank:coins,house:bank:coins}',
    amount = '{9007199254740991,9007199254740991,9007199254740991,2}'`
  // Without two debits nobody is overdrawn later, whose movements would not count.
  const debits = `select position from ledger_events where type = 'balance-debited' order by position limit 2`
  await tamper(sound, `update ledger_events set ${movement} where position in (${debits})`)
  await indexUpTo(sound, 500)
  const [row] = await queryRows(sound, `select balance from account_index where account = 'house:bank:coins'`)
  t.equal(String(row?.['balance']), String(6n * 9_007_199_254_740_991n + 4n))
  t.same(await differingBlocks(sound, 500), [])
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
