import { test } from 'tap'
import { nameRepeated, PreparedStatement } from '../../../src/db/queries/query-builder.ts'

test('the first texts that are repeated have names, each its own, and others have none', async (t) => {
  const nameOf = nameRepeated(2)
  t.same(
    ['select 1', 'select 2', 'select 3', 'select 4'].map((text) => nameOf(text)),
    [undefined, undefined, undefined, undefined],
  )
  const [a, b] = [nameOf('select 1'), nameOf('select 2')]
  t.ok(a !== undefined && b !== undefined && a !== b)
  t.equal(nameOf('select 1'), a)
  t.equal(nameOf('select 3'), undefined)
  t.equal(nameOf('select 2'), b)
})

test('a prepared statement keeps its name', async (t) => {
  const text = 'select 4 as four'
  t.ok(new PreparedStatement('four', text))
  t.equal(nameRepeated(0)(text), 'four')
})
