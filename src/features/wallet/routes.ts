import { dataOf, IdParams } from '../../../schema/common.ts'
import { ProposalRecord } from '../../../schema/proposals.ts'
import { BalanceMoved, MoveBalance, Wallet, WalletHistory, WalletHistoryQuery } from '../../../schema/wallet.ts'
import { userOf } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { encodeCursor, readPage, rowsThatFit } from '../../http/pages.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { languageOf } from '../../language/request-language.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import { amountRule, parseAmount } from './amount.ts'
import type { BalanceMove } from './balance-move.ts'
import { liveWallet } from './frames.ts'
import { historyItem, historyLookup, toWallet, walletLookup } from './reads.ts'
import { walletVerbs } from './verbs.ts'

/** Balances: what users hold, and what operators credit and debit. */
export const walletSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure: () => ({
    verbs: walletVerbs,
    routes: (app, services) => {
      walletRoutes(app, services)
      walletHistoryRoutes(app, services)
    },
    adminRoutes: walletAdminRoutes,
  }),
  liveQuery: liveWallet,
}

function walletRoutes(app: App, { db, settings }: Services): void {
  const wallets = walletLookup(db)

  app.get(
    '/wallet',
    {
      schema: {
        operationId: 'getWallet',
        summary: 'All that the caller holds',
        description:
          'Coins and diamonds are whole numbers, dollars have two decimals. `available_dollars` is what is not held by a request that waits.',
        tags: ['wallet'],
        refusals: ['not_found'],
        response: { 200: Wallet },
      },
    },
    async (request) => {
      const wallet = await wallets.load(userOf(request))
      if (wallet === null) throw notFound()
      return { data: toWallet(wallet, settings.assetBaseUrl, languageOf(request)) }
    },
  )
}

function walletHistoryRoutes(app: App, { db }: Services): void {
  const pages = historyLookup(db)

  app.get(
    '/wallet/history',
    {
      // A page may search some thousands of events that are not indexed yet.
      config: { cost: 2 },
      schema: {
        operationId: 'listWalletHistory',
        summary: 'What the caller received and spent, newest first, with the balance after each movement',
        description:
          'Without a currency: of all currencies. An amount on hold has not moved yet: it is listed once the withdrawal ' +
          'is approved. Pages do not shift while new movements arrive. meta.indexed_up_to is the position up to which ' +
          'movements are indexed; what came after it is searched, so that nothing is missing. While more than 5,000 ' +
          'events are not indexed, after a burst of gifts, the list ends at meta.indexed_up_to, which then lies before ' +
          'X-Ledger-Position: newer movements are listed a little later. Nothing here is translated. Who took part in an instant transfer is answered by pageInstantTransfers: its id is the ' +
          'number before the dash of the id here.',
        tags: ['wallet'],
        querystring: WalletHistoryQuery,
        response: { 200: WalletHistory },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 2)
      const { entries, indexed } = await pages.load({
        userId: userOf(request),
        currency: request.query.currency ?? null,
        before: cursor && { position: cursor[0] ?? 0, number: cursor[1] ?? 0 },
        limit: limit + 1,
      })
      const data = rowsThatFit(entries.slice(0, limit).map(historyItem))
      const last = entries.length > data.length ? entries[data.length - 1] : undefined
      const next_cursor = last === undefined ? null : encodeCursor([last.position, last.number])
      return { data: [...data], meta: { next_cursor, indexed_up_to: indexed } }
    },
  )
}

const tags = ['operators']
const params = IdParams
const body = MoveBalance
const response = { 201: dataOf(BalanceMoved), 202: dataOf(ProposalRecord) }

/** Admin routes for balances. */
function walletAdminRoutes(app: App, services: Services): void {
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
