import { dataOf } from '../../../schema/common.ts'
import { BalanceMoved, IdParams, MoveBalance } from '../../../schema/operator.ts'
import { ProposalRecord } from '../../../schema/proposals.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import type { App, Services } from '../services.ts'
import { amountRule, parseAmount } from './amount.ts'
import type { BalanceMove } from './balance-move.ts'
import { walletVerbs } from './verbs.ts'

const tags = ['operators']
const params = IdParams
const body = MoveBalance
const response = { 201: dataOf(BalanceMoved), 202: dataOf(ProposalRecord) }

/** Admin routes for balances. */
export function walletAdminRoutes(app: App, services: Services): void {
  const { execute } = services

  app.post(
    '/users/:id/credits',
    {
      schema: {
        operationId: 'creditUser',
        summary: "Add to a user's balance",
        description: 'Creates value: the reason is kept, and above its limit it becomes a proposal (202).',
        tags,
        params,
        body,
        refusals: walletVerbs.credit.refusals,
        response,
      },
    },
    (request, reply) => {
      const move = toBalanceMove(request.body)
      return execute(request, reply, walletVerbs.credit, { user_id: idInPath(request.params.id), ...move })
    },
  )

  app.post(
    '/users/:id/debits',
    {
      schema: {
        operationId: 'debitUser',
        summary: "Take from a user's balance",
        description: 'At most what is available. Above its limit it becomes a proposal (202).',
        tags,
        params,
        body,
        refusals: walletVerbs.debit.refusals,
        response,
      },
    },
    (request, reply) => {
      const move = toBalanceMove(request.body)
      return execute(request, reply, walletVerbs.debit, { holder: 'user', id: idInPath(request.params.id), ...move })
    },
  )

  app.post(
    '/rooms/:id/debits',
    {
      schema: {
        operationId: 'debitRoom',
        summary: "Take from a room's balance",
        description: 'At most what the room holds. Above its limit it becomes a proposal (202).',
        tags,
        params,
        body,
        refusals: walletVerbs.debit.refusals,
        response,
      },
    },
    (request, reply) => {
      const move = toBalanceMove(request.body)
      return execute(request, reply, walletVerbs.debit, { holder: 'room', id: idInPath(request.params.id), ...move })
    },
  )
}

/** Validates the amount, whose format depends on the currency, which the schema cannot express. */
function toBalanceMove({ currency, amount, reason }: MoveBalance): BalanceMove {
  const units = parseAmount(currency, amount)
  if (units === null) throw validationFailed({ amount: [amountRule(currency)] })
  return { currency, amount: units, reason }
}
