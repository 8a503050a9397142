import { type Arbitrary, array, assert, constantFrom, integer, oneof, property, record } from 'fast-check'
import { test } from 'tap'
import { RowCache } from '../../../src/ledger/executor/row-cache.ts'
import { ReplayState } from '../../../src/ledger/replay/replay.ts'
import { applyMovements, balances, holds, type Movement } from '../../../src/ledger/rules/account.ts'
import { runs } from '../../harness/properties.ts'

const accounts = ['house:a:coins', 'issuance:b:coins', 'user:1:coins', 'user:2:coins', 'debt:1:coins']
const account = constantFrom(...accounts)
const amount = oneof(
  integer({ min: 1, max: 100 }),
  constantFrom(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1, 2 ** 52),
)
const movement: Arbitrary<Movement> = record({ debit: account, credit: account, amount })
/** The movements of an event, or an account whose row is deleted. */
const step = oneof(
  { weight: 9, arbitrary: array(movement, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: account },
)

/** An event that throws is rolled back. */
function apply(state: RowCache | ReplayState, todo: readonly Movement[] | string): string {
  try {
    if (typeof todo === 'string') state.set(balances, todo, undefined)
    else applyMovements(state, todo)
    state.checkpoint()
    return 'done'
  } catch (error) {
    state.rollback()
    return String(error)
  }
}

test('balances of a replay are those of the service, far beyond 2^53 and after rollbacks', async (t) => {
  assert(
    property(array(step, { maxLength: 40 }), (steps) => {
      const rows = new RowCache()
      for (const name of accounts) rows.put(balances, name, undefined)
      const whole = new ReplayState()
      for (const todo of steps) t.equal(apply(whole, todo), apply(rows, todo))
      for (const name of accounts) t.same(whole.get(balances, name), rows.get(balances, name))
      t.same([...whole.ids(balances)].sort(), accounts.filter((name) => rows.get(balances, name) !== undefined).sort())
    }),
    runs(300),
  )
})

test('tracked changes name the rows set since', async (t) => {
  const rows = new ReplayState()
  applyMovements(rows, [{ debit: 'house:a:coins', credit: 'user:1:coins', amount: 5 }])
  rows.trackChanges()
  applyMovements(rows, [{ debit: 'house:a:coins', credit: 'user:2:coins', amount: 5 }])
  t.same([...rows.changed(balances)], ['house:a:coins', 'user:2:coins'])
})

test('a sweep visits each row once, and again the next time', async (t) => {
  const rows = new ReplayState()
  applyMovements(rows, [{ debit: 'house:a:coins', credit: 'user:1:coins', amount: 5 }])
  rows.set(holds, 'user:1:dollars', { account: 'user:1:dollars', held: 1n })
  rows.set(holds, 'user:2:dollars', { account: 'user:2:dollars', held: 2n })
  rows.set(holds, 'user:2:dollars', undefined)
  rows.set(balances, 'user:9:coins', undefined)
  for (const [projection, id, row, left] of [
    [balances, 'user:1:coins', { account: 'user:1:coins', balance: 5n }, ['house:a:coins']],
    [holds, 'user:1:dollars', { account: 'user:1:dollars', held: 1n }, []],
  ] as const) {
    for (let time = 0; time < 2; time += 1) {
      const over = rows.sweep(projection)
      t.same(over.visit(id), row)
      t.equal(over.visit(id), undefined, 'twice')
      t.equal(over.visit('user:9:coins'), undefined, 'there is none')
      t.same([...over.unvisited()], left)
    }
    t.ok([...rows.sweep(projection).unvisited()].includes(id))
  }
})
