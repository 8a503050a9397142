import { test } from 'tap'
import { PreparedStatement } from '../../../src/db/queries/prepared-statement.ts'
import { nameFirst } from '../../../src/db/queries/report-database.ts'

test('the first texts have names, each its own, and later ones have none', (t) => {
  const nameOf = nameFirst(2)
  const [a, b] = [nameOf('select 1'), nameOf('select 2')]
  t.ok(a !== undefined && b !== undefined && a !== b)
  t.equal(nameOf('select 1'), a)
  t.equal(nameOf('select 3'), undefined)
  t.equal(nameOf('select 2'), b)
  t.end()
})

test('a prepared statement keeps its name', (t) => {
  const text = 'select 4 as four'
  t.ok(new PreparedStatement('four', text))
  t.equal(nameFirst(0)(text), 'four')
  t.end()
})
