import { test } from 'tap'
import { MAX_INTEGER } from '../../../schema/common.ts'
import { ReplayState } from '../../../src/ledger/replay/replay.ts'
import { applyMovements, isAccount, type Movement, transferError } from '../../../src/ledger/rules/account.ts'

test('names of accounts', async (t) => {
  for (const name of ['user:7:coins', 'debt:7:agent_dollars', 'purchases:play-store-2:coins', 'house:gifts:target'])
    t.ok(isAccount(name), name)
  const long = 'p'.repeat(33)
  for (const name of [
    'debt:07:coins',
    'debt:x:coins',
    'purchases::coins',
    'purchases:Play:coins',
    `purchases:${long}:coins`,
  ])
    t.notOk(isAccount(name), name)
})

test('a debt is never above zero, and purchases may have any balance', async (t) => {
  const [purchases, user, debt] = ['purchases:play:coins', 'user:1:coins', 'debt:1:coins']
  const move = (debit: string, credit: string, amount: number): Movement => ({ debit, credit, amount })
  const rows: readonly (readonly [
    given: Movement[],
    Movement[],
    error?: ReturnType<typeof transferError>,
    thrown?: string,
  ])[] = [
    [[], [move(purchases, user, MAX_INTEGER)]],
    [[move(purchases, user, MAX_INTEGER)], [move(purchases, 'user:2:coins', MAX_INTEGER)]],
    [[], [move('house:a:coins', purchases, 5)]],
    [[], [move(debt, purchases, MAX_INTEGER)]],
    [
      [move(debt, purchases, 5)],
      [move(debt, purchases, MAX_INTEGER)],
      'balance_limit',
      `${debt} exceeds the largest debt`,
    ],
    [[move(debt, purchases, 5)], [move(purchases, debt, 5)]],
    [[move(debt, purchases, 5)], [move(purchases, debt, 6)], 'balance_limit', `${debt} was paid more than was owed`],
    [[move(debt, purchases, 5)], [move(purchases, user, 3), move(user, debt, 3)]],
    [[move(debt, purchases, 5)], [move(user, debt, 3)], 'insufficient_balance', `${user} is overdrawn`],
  ]
  for (const [given, movements, error, thrown] of rows) {
    const state = new ReplayState()
    if (given.length > 0) applyMovements(state, given)
    const name = JSON.stringify([given, movements])
    t.equal(transferError(state, movements), error, name)
    if (thrown === undefined) applyMovements(state, movements)
    else t.throws(() => applyMovements(state, movements), { message: thrown }, name)
  }
})
