import { type Arbitrary, array, assert, constantFrom, integer, oneof, property, record } from 'fast-check'
import { test } from 'tap'
import { RowCache } from '../../../src/ledger/executor/row-cache.ts'
import { ReplayState } from '../../../src/ledger/replay/replay.ts'
import { applyMovements, balances, type Movement } from '../../../src/ledger/rules/account.ts'
import { ledgerTables } from '../../../src/ledger/storage/row-table.ts'
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

test('balances of a replay are those of the service, far beyond 2^53, after rollbacks, and from files', async (t) => {
  assert(
    property(array(step, { maxLength: 40 }), (steps) => {
      for (const maxRows of [undefined, 0, 2]) {
        using whole = new ReplayState({ tables: ledgerTables, ...(maxRows !== undefined && { maxRows }) })
        const service = new RowCache()
        for (const name of accounts) service.put(balances, name, undefined)
        for (const todo of steps) t.equal(apply(whole, todo), apply(service, todo))
        const expected = accounts.flatMap((name) => service.get(balances, name) ?? [])
        t.same(new Map(whole.rows(balances)), new Map(expected.map((row) => [row.account, row])))
        for (const name of accounts) t.same(whole.get(balances, name), service.get(balances, name))
      }
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
