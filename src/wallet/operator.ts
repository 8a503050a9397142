import { dataOf } from '../../schema/common.ts'
import { BalanceMoved, IdParams, MoveBalance } from '../../schema/operator.ts'
import { notFound } from '../http/errors.ts'
import { pathId } from '../http/ids.ts'
import type { App, Services } from '../http/services.ts'
import { askedAmount } from './amount.ts'
import type { BalanceMove } from './balance-move.ts'
import { credit } from './credit.ts'
import { debit } from './debit.ts'

const tags = ['operators']
const params = IdParams
const body = MoveBalance
const response = { 201: dataOf(BalanceMoved) }

/** The operators' doors for balances. */
export function walletOperatorRoutes(app: App, { run }: Services): void {
  app.post(
    '/users/:id/credits',
    { schema: { operationId: 'creditUser', summary: "Add to a user's balance", tags, params, body, response } },
    (request, reply) => {
      const user_id = knownId(request.params.id)
      return run(request, reply, credit, { user_id, ...asked(request.body) }, { status: 201 })
    },
  )

  app.post(
    '/users/:id/debits',
    { schema: { operationId: 'debitUser', summary: "Take from a user's balance", tags, params, body, response } },
    (request, reply) => {
      const input = { holder: 'user', id: knownId(request.params.id), ...asked(request.body) } as const
      return run(request, reply, debit, input, { status: 201 })
    },
  )

  app.post(
    '/rooms/:id/debits',
    { schema: { operationId: 'debitRoom', summary: "Take from a room's balance", tags, params, body, response } },
    (request, reply) => {
      const input = { holder: 'room', id: knownId(request.params.id), ...asked(request.body) } as const
      return run(request, reply, debit, input, { status: 201 })
    },
  )
}

function knownId(text: string): number {
  const id = pathId(text)
  if (id === null) throw notFound()
  return id
}

const asked = ({ currency, amount, reason }: MoveBalance): BalanceMove => ({
  currency,
  amount: askedAmount(currency, amount),
  reason,
})
