import { test } from 'tap'
import { ReplayState } from '../../../src/ledger/replay/replay.ts'
import type { Projection } from '../../../src/ledger/rules/projection.ts'

const things: Projection<string> = { name: 'things' }
const others: Projection<string> = { name: 'others' }

test('a row that was deleted and set again exists, whatever row was read before', async (t) => {
  const rows = new ReplayState()
  rows.set(things, '1', 'one')
  t.equal(rows.get(things, '1'), 'one')
  rows.set(things, '1', undefined)
  t.equal(rows.get(things, '1'), undefined)
  rows.set(things, '1', 'again')
  t.equal(rows.get(things, '1'), 'again')
  rows.checkpoint()

  // The row read last is another one, of another table, or was deleted since.
  rows.set(others, '1', 'other')
  t.equal(rows.get(things, '1'), 'again')
  rows.set(others, '1', 'another')
  t.same([rows.get(things, '1'), rows.get(others, '1')], ['again', 'another'])
  rows.set(things, '1', undefined)
  rows.set(things, '1', 'last')
  t.equal(rows.get(things, '1'), 'last')
  rows.rollback()
  t.same([rows.get(things, '1'), rows.get(others, '1')], ['again', undefined])
})
