import { Wallet } from '../../../schema/wallet.ts'
import { userOf } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import type { App, Services } from '../services.ts'
import { walletLookup } from './reads.ts'

export function walletRoutes(app: App, { db }: Services): void {
  const wallets = walletLookup(db)

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
      const wallet = await wallets.load(userOf(request))
      if (wallet === null) throw notFound()
      return { data: wallet }
    },
  )
}
