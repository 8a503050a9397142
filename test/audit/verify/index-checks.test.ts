import { test } from 'tap'
import { formatFinding } from '../../../src/audit/verify/finding.ts'
import { accountTerm } from '../../../src/ledger/indexes/index-terms.ts'
import { BLOCK_EVENTS } from '../../../src/ledger/indexes/index-writer.ts'
import { createTestExecutor } from '../../harness/ledger/test-executor.ts'
import { onlyInFullRun } from '../../harness/long-tests.ts'
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

test('whatever is changed in the index is found, up to its cursor', async (t) => {
  const sound = await grownLedger()
  const { head } = await positionsOf(sound)
  for (const upTo of [0, BLOCK_EVENTS, 3 * BLOCK_EVENTS, head]) {
    await indexUpTo(sound, upTo)
    t.same((await verifyDatabase(sound)).findings, [], `indexed up to ${upTo}`)
  }
  const ofBlock = `level = 0 and base = ${BLOCK_EVENTS}`
  const house = `'\\x${Buffer.from(accountTerm('house:gifts:diamonds'), 'latin1').toString('hex')}'::bytea`
  const page = `ctid = (select ctid from ledger_index where ${ofBlock} and term <= ${house} order by term desc limit 1)`
  const inserted = (term: string): string =>
    `insert into ledger_index select level, base, '${term}'::bytea, 1, data from ledger_index where ${ofBlock} limit 1`
  const differs = `ledger_index ${BLOCK_EVENTS}: is not what follows from the events 257 to 512`
  const cases: [statement: string, finding: string][] = [
    ...[0, 1, 2, 3, 60, 61, 62, 63, 64, 65, 66, 67, 200, 1_000].map((at): [string, string] => [
      `update ledger_index set data = set_byte(data, ${at}, (get_byte(data, ${at}) + 1) % 256) where ${page}`,
      differs,
    ]),
    [`update ledger_index set data = substr(data, 1, octet_length(data) - 1) where ${page}`, differs],
    [`update ledger_index set data = data || '\\x00'::bytea where ${page}`, differs],
    [`update ledger_index set data = '' where ${page}`, differs],
    [`update ledger_index set term = term || '\\x00'::bytea where ${page}`, differs],
    [`update ledger_index set first = first + 1 where ${page}`, differs],
    [`delete from ledger_index where ${page}`, differs],
    [`delete from ledger_index where ${ofBlock}`, differs],
    [inserted('\\x00'), differs],
    [inserted('\\xff'), differs],
    [
      `delete from ledger_index_segments where ${ofBlock}`,
      `ledger_index_segments 256: no segment has the events 257 to 512`,
    ],
    [
      `update ledger_index_segments set state = 'dead' where base = 0`,
      `ledger_index_segments 0: no segment has the events 1 to 256`,
    ],
    ...[
      [0, 2 ** 40 * BLOCK_EVENTS],
      [0, 1],
      [1, 0],
      [-5, 300],
      [300, 0],
    ].map(([level, base]): [string, string] => [
      `insert into ledger_index_segments values (${level}, ${base}, 'live')`,
      `ledger_index_segments ${level}:${base}: is live besides those that have the events up to the cursor`,
    ]),
    ...['00', '0000', '00027f0000', '00ff'].map((data): [string, string] => [
      `insert into ledger_index values (0, 256, '\\x20'::bytea, 1, '\\x${data}'::bytea)`,
      differs,
    ]),
    [
      `insert into ledger_index select level, base, term, 99999999999, '\\x00' from ledger_index where ${ofBlock} limit 1`,
      differs,
    ],
    [
      `update ledger_cursors set position = ${head + 1} where name = 'indexes'`,
      `ledger_cursors indexes: position is ${head + 1}, which no block of the ledger ends at`,
    ],
  ]
  const restore = await keepRows(sound, 'ledger_index', 'ledger_index_segments', 'ledger_cursors')
  for (const [statement, finding] of cases) {
    await tamper(sound, statement)
    const findings = (await verifyDatabase(sound)).findings.map(formatFinding)
    t.same(findings.slice(0, 1), [`projection: ${finding}`], statement)
    await restore()
  }
  // The cursor claims events that are not indexed.
  await tamper(sound, `delete from ledger_index_segments where base >= 512`)
  t.same((await verifyDatabase(sound)).findings.map(formatFinding), [
    `projection: ledger_index_segments 512: no segment has the events 513 to 1024`,
  ])
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
