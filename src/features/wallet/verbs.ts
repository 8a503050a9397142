import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { CurrencyName } from '../../../schema/operator.ts'
import { inputSchema } from '../../ledger/executor/command.ts'
import { nameCoveredVerb, registerCovered } from '../proposals/register-covered.ts'
import type { MovedBalance } from './balance-move.ts'
import { credit, creditMovements } from './credit.ts'
import { debit, debitMovements } from './debit.ts'
import { balanceMoveRecord } from './presenters.ts'

const move = { currency: CurrencyName, amount: Id, reason: Type.String() }
const Credit = inputSchema(Type.Object({ user_id: Id, ...move }))
const Debit = inputSchema(
  Type.Object({ holder: Type.Union([Type.Literal('user'), Type.Literal('room')]), id: Id, ...move }),
)

const moved = { status: 201, body: (balance: MovedBalance) => ({ data: balanceMoveRecord(balance) }) } as const

const namedCredit = nameCoveredVerb('credit', Credit, {
  verb: credit,
  describe: ({ user_id, reason }) => ({ action: 'credit', subject: `user:${user_id}`, reason }),
  movements: creditMovements,
})

const namedDebit = nameCoveredVerb('debit', Debit, {
  verb: debit,
  describe: ({ holder, id, reason }) => ({
    action: holder === 'room' ? 'room_debit' : 'debit',
    subject: `${holder}:${id}`,
    reason,
  }),
  movements: debitMovements,
})

export const coveredWalletVerbs = [namedCredit, namedDebit] as const

/** The verbs of balances. */
export const walletVerbs = {
  credit: registerCovered(namedCredit, moved),
  debit: registerCovered(namedDebit, moved),
}
