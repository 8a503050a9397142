import { Wallet } from '../../../schema/wallet.ts'
import { userOf } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { languageOf } from '../../language/request-language.ts'
import type { App, Services } from '../services.ts'
import { toWallet, walletLookup } from './reads.ts'

export function walletRoutes(app: App, { db, settings }: Services): void {
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
