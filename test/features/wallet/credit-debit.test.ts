import { test } from 'tap'
import { evolveRooms } from '../../../src/features/rooms/room.ts'
import { evolveUsers } from '../../../src/features/users/user.ts'
import { parseAmount } from '../../../src/features/wallet/amount.ts'
import { type Credit, credit, type Debit, debit } from '../../../src/features/wallet/balance-move.ts'
import { balanceMoveRecord } from '../../../src/features/wallet/verbs.ts'
import { type Currency, currencies } from '../../../src/ledger/rules/account.ts'
import { credited, roomDefined, userDefined } from '../../harness/ledger/event-fixtures.ts'
import { givenWhen } from '../../harness/ledger/given-when.ts'

const MAX_BALANCE = Number.MAX_SAFE_INTEGER

function units(currency: Currency, amount: string | number): number {
  const parsed = parseAmount(currency, amount)
  if (parsed === null) throw new Error(`${amount} is no amount of ${currency}`)
  return parsed
}

const toUser = (user_id: number, currency: Currency, amount: string | number): Credit => ({
  user_id,
  currency,
  amount: units(currency, amount),
  reason: 'a gift of the house',
})

const from = (holder: 'user' | 'room', id: number, currency: Currency, amount: string | number): Debit => ({
  holder,
  id,
  currency,
  amount: units(currency, amount),
  reason: 'taken back',
})

test('a debit takes value back, down to nothing', async (t) => {
  for (const holder of ['user', 'room'] as const) {
    for (const currency of currencies) {
      const { given, when } = givenWhen(evolveUsers, evolveRooms)
      given(userDefined(7), roomDefined(7, 7), credited(holder, 7, currency, 300))
      const { events, answer } = when(debit, from(holder, 7, currency, currency.endsWith('dollars') ? '3.00' : 300))
      t.same(
        events.map(({ type, data, movements }) => ({ type, data, movements })),
        [
          {
            type: 'balance-debited',
            data: { reason: 'taken back' },
            movements: [{ debit: `${holder}:7:${currency}`, credit: `issuance:operator:${currency}`, amount: 300 }],
          },
        ],
      )
      t.match(JSON.parse(JSON.stringify(answer && balanceMoveRecord(answer))), {
        account: `${holder}:7:${currency}`,
        balance: 0,
      })
    }
  }
})

// Each row breaks its own rule and those of the rows below it: the order is the order of precedence.
test('refusals of a credit, in order', async (t) => {
  const rows = [
    [toUser(8, 'coins', MAX_BALANCE), { refusal: 'not_found' }],
    [toUser(7, 'coins', 1), { refusal: 'balance_limit' }],
  ] as const
  for (const [input, refusal] of rows) {
    const { given, when } = givenWhen(evolveUsers)
    given(userDefined(7), credited('user', 7, 'coins', MAX_BALANCE))
    t.same(when(credit, input), { events: [], answer: undefined, refusal })
  }
})

test('refusals of a debit, in order', async (t) => {
  const rows = [
    [from('user', 8, 'coins', 101), { refusal: 'not_found' }],
    // The id of a user, not of a room, and the reverse.
    [from('room', 7, 'coins', 101), { refusal: 'not_found' }],
    [from('user', 3, 'coins', 101), { refusal: 'not_found' }],
    [from('user', 7, 'coins', 101), { refusal: 'insufficient_balance' }],
    [from('user', 7, 'diamonds', 1), { refusal: 'insufficient_balance' }],
    [from('room', 3, 'coins', 1), { refusal: 'insufficient_balance' }],
  ] as const
  for (const [input, refusal] of rows) {
    const { given, when } = givenWhen(evolveUsers, evolveRooms)
    given(userDefined(7), roomDefined(3, 7), credited('user', 7, 'coins', 100), credited('room', 3, 'target', 100))
    t.same(when(debit, input), { events: [], answer: undefined, refusal })
  }
})
