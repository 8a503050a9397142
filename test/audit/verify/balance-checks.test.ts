import { rmSync, statSync } from 'node:fs'
import { type Arbitrary, array, assert, constantFrom, integer, oneof, property, record } from 'fast-check'
import { test } from 'tap'
import { BalanceChecks, movementError } from '../../../src/audit/verify/balance-checks.ts'
import { Replay, ReplayState } from '../../../src/ledger/replay/replay.ts'
import { applyMovements, balances, type Movement } from '../../../src/ledger/rules/account.ts'
import { combineEvolvers } from '../../../src/ledger/rules/event.ts'
import { EventRowReader } from '../../../src/ledger/storage/event-row-reader.ts'
import { ledgerTables } from '../../../src/ledger/storage/row-table.ts'
import { isReadByEvolvers } from '../../../src/ledger/storage/text-bytes.ts'
import { eventPage } from '../../harness/ledger/event-page.ts'
import { runs } from '../../harness/properties.ts'

/** Checks events one after the other; returns the findings, as `check message`, and the checks. */
function checked(events: readonly (readonly Movement[])[], maxAccounts?: number) {
  const found: string[] = []
  const checks = new BalanceChecks((check, message) => void found.push(`${check} ${message}`), maxAccounts)
  for (const rows = new EventRowReader(eventPage(events)); rows.next(); ) checks.check(rows)
  return { found, checks }
}

const amount = oneof(
  integer({ min: -1, max: 100 }),
  constantFrom(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1, 2 ** 52),
)
const of = (...accounts: readonly string[]): Arbitrary<readonly Movement[]> => {
  const account = constantFrom(...accounts)
  return array(record({ debit: account, credit: account, amount }), { maxLength: 4 })
}
const event = oneof(
  of('house:a:coins', 'issuance:b:coins', 'user:1:coins', 'user:2:coins', 'room:3:coins'),
  of('house:a:coins', 'user:1:diamonds', 'user:2:money', 'room:3:coins', 'coins'),
  // Evolvers read the balances of some of these, or of all.
  of('issuance:b:coins', 'user:1:coins', 'game:5:coins', 'game:6:coins'),
  of('purchases:p-1:coins', 'user:1:coins', 'debt:1:coins'),
  of('issuance:b:dollars', 'user:1:dollars', 'withdrawal:7:dollars'),
)

test('balances from bytes are those of the rules, and each fault is found once', async (t) => {
  assert(
    property(array(event, { maxLength: 30 }), (events) => {
      const expected: string[] = []
      const whole = new ReplayState()
      const replay = new Replay(combineEvolvers([]), { keepsBalance: isReadByEvolvers })
      for (const [i, movements] of events.entries()) {
        const faults = movements.flatMap((movement) => movementError(movement) ?? [])
        expected.push(...faults.map((message) => `double-entry ${message}`))
        if (faults.length > 0) continue
        try {
          applyMovements(whole, movements)
          whole.checkpoint()
        } catch (error) {
          whole.rollback()
          expected.push(`rules ${error instanceof Error ? error.message : ''}`)
        }
        try {
          replay.fold({ type: 'user-forgotten', data: { user_id: 1 }, position: i, at: 0 }, movements)
        } catch (error) {
          // A fault that the rules report is reported here too, if not with the same account.
          t.ok(error instanceof Error && expected.some((one) => one.startsWith('rules')))
        }
      }
      for (const maxAccounts of [undefined, 0, 2]) {
        const { found, checks } = checked(events, maxAccounts)
        t.same(found, expected)
        using state = new ReplayState({ tables: ledgerTables })
        const kept = checks.takeBalances()
        state.importBalances(kept)
        if (kept.file !== null) {
          t.equal(statSync(kept.file).mode & 0o777, 0o600)
          rmSync(kept.file)
        }
        t.same(new Map(state.rows(balances)), new Map(whole.rows(balances)))
      }
    }),
    runs(300),
  )
})

test('a replay keeps only the balances that evolvers read', async (t) => {
  const staked = [{ debit: 'user:1:coins', credit: 'game:5:coins', amount: 7 }]
  const { found, checks } = checked([[{ debit: 'house:a:coins', credit: 'user:1:coins', amount: 9 }], staked, staked])
  t.same(found, ['rules user:1:coins is overdrawn'])
  t.same(checks.takeBalances(), {
    accounts: ['house:a:coins', 'user:1:coins', 'game:5:coins'],
    balances: [-9, 2, 7],
    file: null,
  })
  const { state: rows } = folded(staked)
  t.same(
    [...rows.rows(balances)].map(([account]) => account),
    ['game:5:coins'],
  )
  t.same(rows.get(balances, 'game:5:coins'), { account: 'game:5:coins', balance: 7n })
  const paid = [{ debit: 'game:5:coins', credit: 'user:1:coins', amount: 8 }]
  t.throws(() => folded(staked, paid), { message: 'game:5:coins is overdrawn' })
  // An import replaces all balances, those kept here included.
  rows.importBalances({ accounts: ['user:1:coins'], balances: [7], file: null })
  t.same(
    [...rows.rows(balances)].map(([account]) => account),
    ['user:1:coins'],
  )
})

/** A replay with the balances that evolvers read, of events that no evolver handles. */
function folded(...events: readonly (readonly Movement[])[]) {
  const replay = new Replay(combineEvolvers([]), { keepsBalance: isReadByEvolvers })
  for (const movements of events) {
    replay.fold({ type: 'user-forgotten', data: { user_id: 1 }, position: 1, at: 0 }, movements)
  }
  return replay
}

test('after the balances are taken only the form of movements is checked', async (t) => {
  const { found, checks } = checked([[{ debit: 'issuance:a:coins', credit: 'user:1:coins', amount: 5 }]])
  t.same(checks.takeBalances(), { accounts: ['issuance:a:coins', 'user:1:coins'], balances: [-5, 5], file: null })
  const more = [
    [{ debit: 'user:1:coins', credit: 'house:a:coins', amount: 50 }],
    [{ debit: 'user:1:coins', credit: 'house:a:diamonds', amount: 1 }],
  ]
  for (const rows = new EventRowReader(eventPage(more)); rows.next(); ) checks.check(rows)
  t.same(found, ['double-entry user:1:coins and house:a:diamonds are of different currencies'])
})
