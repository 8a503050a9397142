import { Type } from '@sinclair/typebox'
import { dataOf, IdParams, PageQuery, pageOf, pickName } from '../../../schema/common.ts'
import {
  Activated,
  CardParams,
  DefinePackage,
  GrantCards,
  PackageRecord,
  PackageResource,
  TransferCard,
  Transferred,
  WalletCard,
} from '../../../schema/privilege.ts'
import { ProposalRecord } from '../../../schema/proposals.ts'
import { userOf } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { etagOf, expectedVersion, idInPath } from '../../http/validation/request-parts.ts'
import { languageOf } from '../../language/request-language.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import { packageVersion } from './package.ts'
import { newestPackages, packageById, packagesByRank, storedCardLookup } from './reads.ts'
import { type PrivilegeVerbs, packageRecord, packageResource, privilegeVerbs, walletCard } from './verbs.ts'

/** Privilege packages, the cards in users' wallets, and active privileges. */
export const privilegeSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure(settings) {
    const verbs = privilegeVerbs(settings)
    return {
      verbs,
      routes: (app, services) => privilegeRoutes(app, services, verbs),
      adminRoutes: (app, services) => privilegeAdminRoutes(app, services, verbs),
    }
  },
}

const tags = ['privilege wallet']
const params = CardParams

/** Client routes of the privilege wallet. */
function privilegeRoutes(app: App, services: Services, verbs: PrivilegeVerbs): void {
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

/** Admin routes for privilege packages and cards. */
function privilegeAdminRoutes(app: App, services: Services, verbs: PrivilegeVerbs): void {
  const { execute, db, settings } = services

  app.put(
    '/privilege-packages/:id',
    {
      schema: {
        operationId: 'definePrivilegePackage',
        summary: 'Create or change a privilege package',
        description: 'Cards that were granted keep their days; absent fields stay as they are.',
        tags: ['operators'],
        params: IdParams,
        body: DefinePackage,
        refusals: verbs.definePackage.refusals,
        response: { 200: dataOf(PackageRecord) },
      },
    },
    (request, reply) => {
      const id = idInPath(request.params.id)
      const { name, rank, valid_days, icon_path } = request.body
      const fields = { name: pickName(name), rank, valid_days, icon_path, expected: expectedVersion(request) }
      const input = { privilege_package_id: id, ...fields }
      return execute(request, reply, verbs.definePackage, input)
    },
  )

  app.get(
    '/privilege-packages/:id',
    {
      schema: {
        operationId: 'getPrivilegePackage',
        summary: 'A privilege package',
        description: 'As it was put, with an ETag for the next change.',
        tags: ['operators'],
        params: IdParams,
        response: { 200: dataOf(PackageRecord) },
      },
    },
    async (request, reply) => {
      const found = await packageById(db, idInPath(request.params.id))
      if (found === undefined) throw notFound()
      reply.header('etag', etagOf(packageVersion(found)))
      return { data: packageRecord(found, settings.assetBaseUrl) }
    },
  )

  app.get(
    '/privilege-packages',
    {
      schema: {
        operationId: 'pagePrivilegePackages',
        summary: 'Privilege packages, newest first',
        description: 'As they were put.',
        tags: ['operators'],
        querystring: PageQuery,
        response: { 200: pageOf(PackageRecord) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 2)
      const rows = await newestPackages(db, limit + 1, cursor)
      const page = toPage(rows, limit, ({ created_at, privilege_package_id }) => [created_at, privilege_package_id])
      return { ...page, data: page.data.map((row) => packageRecord(row, settings.assetBaseUrl)) }
    },
  )

  app.post(
    '/users/:id/cards',
    {
      schema: {
        operationId: 'grantCards',
        summary: 'Grant privilege cards to a user',
        description: 'Above its limit it becomes a proposal (202).',
        tags: ['operators'],
        params: IdParams,
        body: GrantCards,
        refusals: verbs.grantCards.refusals,
        response: { 201: dataOf(Type.Array(WalletCard)), 202: dataOf(ProposalRecord) },
      },
    },
    (request, reply) => {
      const user_id = idInPath(request.params.id)
      const { privilege_package_id, quantity, reason } = request.body
      const input = { user_id, privilege_package_id, quantity, reason }
      return execute(request, reply, verbs.grantCards, input)
    },
  )
}
