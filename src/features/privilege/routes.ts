import { Type } from '@sinclair/typebox'
import { dataOf } from '../../../schema/common.ts'
import {
  Activated,
  CardParams,
  PackageResource,
  TransferCard,
  Transferred,
  WalletCard,
} from '../../../schema/privilege.ts'
import { userOf } from '../../http/auth/caller.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { languageOf } from '../../language/request-language.ts'
import type { App, Services } from '../services.ts'
import { packageResource, walletCard } from './presenters.ts'
import { packagesByRank, storedCardLookup } from './reads.ts'
import type { PrivilegeVerbs } from './verbs.ts'

const tags = ['privilege wallet']
const params = CardParams

/** Client routes of the privilege wallet. */
export function privilegeRoutes(app: App, services: Services, verbs: PrivilegeVerbs): void {
  const { execute, db, settings } = services
  const storedCards = storedCardLookup(db)

  app.get(
    '/privilege-wallet',
    {
      schema: {
        operationId: 'listPrivilegeWallet',
        summary: "The caller's stored cards, newest first",
        description: 'Answered whole. Cards that were activated are not among them.',
        tags,
        response: { 200: dataOf(Type.Array(WalletCard)) },
      },
    },
    async (request) => {
      const cards = await storedCards.load(userOf(request))
      const language = languageOf(request)
      return { data: cards.map((card) => walletCard(card, settings.assetBaseUrl, language)) }
    },
  )

  app.get(
    '/privilege-packages',
    {
      schema: {
        operationId: 'listPrivilegePackages',
        summary: 'All privileges by rank, the lowest first',
        description: 'What cards can be of, with their days and ranks.',
        tags,
        response: { 200: dataOf(Type.Array(PackageResource)) },
      },
    },
    async (request) => {
      const packages = await packagesByRank(db)
      return { data: packages.map((one) => packageResource(one, settings.assetBaseUrl, languageOf(request))) }
    },
  )

  app.post(
    '/privilege-wallet/:wallet_card_id/activate',
    {
      schema: {
        operationId: 'activateCard',
        summary: "Activate a card: its days start, extend or replace the caller's privilege",
        description:
          'A card of a higher rank replaces the running privilege; one of the same rank adds all its days, of one rank ' +
          'below 45%, of two 25%, of three or more 10%, rounded down. The card leaves the wallet.',
        tags,
        params,
        refusals: verbs.activateCard.refusals,
        response: { 200: Activated },
      },
    },
    (request, reply) => {
      const input = { caller_id: userOf(request), card_id: idInPath(request.params.wallet_card_id) }
      return execute(request, reply, verbs.activateCard, input)
    },
  )

  app.post(
    '/privilege-wallet/:wallet_card_id/transfer',
    {
      schema: {
        operationId: 'transferCard',
        summary: 'Transfer a card to another user, who receives a push notification',
        description: 'The card is the other user’s at once, and cannot be taken back.',
        tags,
        params,
        body: TransferCard,
        refusals: verbs.transferCard.refusals,
        response: { 200: Transferred },
      },
    },
    (request, reply) => {
      const card_id = idInPath(request.params.wallet_card_id)
      const input = { caller_id: userOf(request), card_id, receiver_id: request.body.receiver_id }
      return execute(request, reply, verbs.transferCard, input)
    },
  )
}
