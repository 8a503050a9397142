import { WalletHistory, WalletHistoryQuery } from '../../../../schema/wallet.ts'
import { userOf } from '../../../http/auth/caller.ts'
import { encodeCursor, readPage, rowsThatFit } from '../../../http/pages.ts'
import type { App, Services } from '../../services.ts'
import { historyItem } from './presenters.ts'
import { historyLookup } from './reads.ts'

export function walletHistoryRoutes(app: App, { db }: Services): void {
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
