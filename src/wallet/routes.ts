import { Wallet } from '../../schema/wallet.ts'
import { userOf } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import type { App, Services } from '../http/services.ts'
import { walletOf } from './reads.ts'

export function walletRoutes(app: App, { db }: Services): void {
  app.get(
    '/wallet',
    {
      schema: {
        operationId: 'getWallet',
        summary: 'All that the caller holds',
        tags: ['wallet'],
        response: { 200: Wallet },
      },
    },
    async (request) => {
      const wallet = await walletOf(db, userOf(request))
      if (wallet === undefined) throw notFound()
      return { data: wallet }
    },
  )
}
