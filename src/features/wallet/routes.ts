import { Wallet } from '../../../schema/wallet.ts'
import { userOf } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import type { App, Services } from '../services.ts'
import { walletLookup } from './reads.ts'

export function walletRoutes(app: App, { reads, settings }: Services): void {
  const wallets = reads.each((db) => walletLookup(db, () => settings.assetBaseUrl))

  app.get(
    '/wallet',
    {
      schema: {
        operationId: 'getWallet',
        summary: 'All that the caller holds',
        tags: ['wallet'],
        refusals: ['not_found'],
        response: { 200: Wallet },
      },
    },
    async (request) => {
      const wallet = await wallets(request).load(userOf(request))
      if (wallet === null) throw notFound()
      return { data: wallet }
    },
  )
}
