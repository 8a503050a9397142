import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { CurrencyName } from '../../../schema/operator.ts'
import { inputSchema, registerVerb } from '../../ledger/executor/registry/registered-verb.ts'
import type { MovedBalance } from './balance-move.ts'
import { credit } from './credit.ts'
import { debit } from './debit.ts'
import { balanceMoveRecord } from './presenters.ts'

const move = { currency: CurrencyName, amount: Id, reason: Type.String() }
const Credit = inputSchema(Type.Object({ user_id: Id, ...move }))
const Debit = inputSchema(
  Type.Object({ holder: Type.Union([Type.Literal('user'), Type.Literal('room')]), id: Id, ...move }),
)

const moved = { status: 201, body: (balance: MovedBalance) => ({ data: balanceMoveRecord(balance) }) } as const

/** The verbs of balances. */
export const walletVerbs = () => ({
  credit: registerVerb('credit', Credit, credit, moved),
  debit: registerVerb('debit', Debit, debit, moved),
})
