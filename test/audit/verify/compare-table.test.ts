import { test } from 'tap'
import { formatFinding } from '../../../src/audit/verify/finding.ts'
import { seededLedger } from '../seed-ledger.ts'
import { tamper, verifyDatabase } from '../verify-database.ts'

test('rows that differ from the ledger are reported with both values', async (t) => {
  const cases: [statement: string, finding: string][] = [
    [
      `update balances set balance = balance + 1 where account = 'user:1:diamonds'`,
      'balances user:1:diamonds: balance is 9742, expected 9741',
    ],
    [
      `update balances set balance = ${2n ** 53n + 1n} where account = 'user:2:dollars'`,
      'balances user:2:dollars: balance is 9007199254740993, expected 1299',
    ],
    ['update users set business_manager = true where user_id = 3', 'users 3: business_manager is t, expected f'],
    ['update rooms set trophy_points = 0', 'rooms 9: trophy_points is 0, expected 176'],
    ['update lucky_progress set used = 0', 'lucky_progress 1: used is 0, expected 1'],
    ['update decorations set price = 1 where decoration_id = 1', 'decorations 1: price is 1, expected 11'],
    [`update decorations set odds_hash = 'x' where decoration_id = 1`, 'decorations 1: odds_hash is x, expected null'],
    [
      `update decorations set odds = replace(odds, '"weight":3', '"weight": 3') where decoration_id = 2`,
      'decorations 2: odds is [{"multiplier":0,"weight": 3},{"multiplier":15000,"weight":2}], expected [{"multiplier":0,"weight":3},{"multiplier":15000,"weight":2}]',
    ],
    ['insert into bag_items values (3, 1, 5, 1)', 'bag_items 3:1: the row does not follow from the ledger'],
    ['delete from bag_items where user_id = 1', 'bag_items 1:2: the row is missing from the table'],
    ['update gift_streaks set won = won - 1', 'gift_streaks 1:9:2: won is 104, expected 105'],
  ]
  const database = await seededLedger()
  await tamper(database, ...cases.map(([statement]) => statement))
  const found = await verifyDatabase(database)
  t.match(found, { position: 22, events: 22 })
  // Tables are compared in the order of the registry, which does not matter here.
  t.same(found.findings.map(formatFinding).sort(), cases.map(([, finding]) => `projection: ${finding}`).sort())
  await tamper(database, `update gift_streaks set won = won + 1, last_at = last_at + interval '1 microsecond'`)
  const { findings } = await verifyDatabase(database)
  t.match(
    findings.find(({ table }) => table === 'gift_streaks'),
    { message: /^last_at is \d{16}, / },
  )
  t.same((await verifyDatabase(database, 22)).findings, [], 'as of a position the current tables are not compared')
})
