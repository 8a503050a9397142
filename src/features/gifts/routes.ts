import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import { dataOf, isOn, PageQuery, PathId, pageOf } from '../../../schema/common.ts'
import { ChooseSeed, PublishedChains, PublishedDraw, PublishedOddsTable } from '../../../schema/fairness.ts'
import { BagItem, Decoration, InstantSend, SendDecoration, SendResult } from '../../../schema/gifts.ts'
import type { Tables } from '../../db/tables.ts'
import { userOf } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { charge } from '../../http/limits/rate-limit.ts'
import { pageBody, readPage } from '../../http/pages.ts'
import { CachedResponse, notModified, type PreparedResponse, preparedJson } from '../../http/prepared-response.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { languageOf } from '../../language/request-language.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import { giftAdminRoutes } from './admin-routes.ts'
import { giftFrames } from './frames.ts'
import { bagItem, publishedDecoration } from './presenters.ts'
import { allDecorations, bagLookup, chainLookup, drawLookup, publishedOddsTable } from './reads.ts'
import { type GiftVerbs, giftVerbs } from './verbs.ts'

/** Gifts: the catalogue, bags, sending, and the draws of lucky ones. */
export const giftsSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure(settings) {
    const verbs = giftVerbs(settings)
    return {
      verbs,
      routes: (app, services) => {
        giftRoutes(app, services, verbs)
        luckyFairnessRoutes(app, services, verbs)
      },
      publicRoutes: catalogueRoutes,
      adminRoutes: (app, services) => giftAdminRoutes(app, services, verbs),
    }
  },
  frameMapper: giftFrames,
}

/** Cost of one more order and draw within a request. */
const COST_PER_ADDITIONAL_RECEIVER = 0.3

/** Client routes for gifts. */
function giftRoutes(app: App, services: Services, verbs: GiftVerbs): void {
  const { execute, db, settings } = services
  const bags = bagLookup(db)

  app.post(
    '/instant-send',
    {
      config: { writes: 'paid' },
      schema: {
        operationId: 'instantSend',
        summary: 'Send a gift to one or more receivers; the response holds the lucky result',
        description:
          'u_id must be the caller, who cannot be a receiver: a gift to oneself is 422. All get the gift or none. The price, times quantity and receivers, is taken ' +
          'from the diamonds of the sender, or with is_bag the items from the bag. Each receiver is one order, drawn on its ' +
          'own where the gift has odds; rewards are paid at once, and diamonds is the balance after them. The room hears of ' +
          'it on the websocket after this answer.\n\n' +
          'Nobody has to be a member of the room. The stake of an order is the price times the quantity. A standard gift ' +
          'gives the receiver the whole stake as target points, the room 3 % of all stakes as target points and ' +
          'trophy_points for all diamonds; a lucky or returnable gift gives the receiver 10 % as target points, and the room ' +
          'nothing. Shares are rounded down. Gifts from the bag count like paid ones. Each further receiver counts as ' +
          `${COST_PER_ADDITIONAL_RECEIVER} requests in the rate limit.`,
        tags: ['gifts'],
        body: InstantSend,
        refusals: verbs.sendGift.refusals,
        response: { 200: SendResult },
      },
    },
    (request, reply) => {
      const { u_id, user_id: receivers } = request.body
      charge(request, (receivers.length - 1) * COST_PER_ADDITIONAL_RECEIVER)
      return execute(request, reply, verbs.sendGift, sendInput(userOf(request), u_id, receivers, request.body))
    },
  )

  app.post(
    '/users/:user_id/decorations/send',
    {
      config: { writes: 'paid' },
      schema: {
        operationId: 'sendDecoration',
        summary: 'Send a gift to one receiver',
        description: 'As instantSend, to the one user of the path; the sender is the caller, for whom it is 422.',
        tags: ['gifts'],
        params: Type.Object({ user_id: PathId }),
        body: SendDecoration,
        refusals: verbs.sendGift.refusals,
        response: { 200: SendResult },
      },
    },
    (request, reply) => {
      const receiver = idInPath(request.params.user_id)
      const caller = userOf(request)
      return execute(request, reply, verbs.sendGift, sendInput(caller, caller, [receiver], request.body))
    },
  )

  app.get(
    '/bag',
    {
      schema: {
        operationId: 'listBag',
        summary: 'Gifts that the caller owns and can send without paying',
        description: 'Answered whole. A gift is sent from it by `is_bag` of POST /instant-send.',
        tags: ['gifts'],
        response: { 200: dataOf(Type.Array(BagItem)) },
      },
    },
    async (request) => {
      const items = await bags.load(userOf(request))
      const language = languageOf(request)
      return { data: items.map((item) => bagItem(item, settings.assetBaseUrl, language)) }
    },
  )
}

const sendInput = (caller_id: number, sender_id: number, receiver_ids: number[], body: SendDecoration) => ({
  caller_id,
  sender_id,
  decoration_id: body.decoration_id,
  receiver_ids,
  quantity: body.quantity,
  room: body.room_id,
  from_bag: isOn(body.is_bag),
  encrypted: isOn(body.with_encryption),
})

/** The routes of gifts and odds, which need no token and are answered from memory. */
function catalogueRoutes(app: App, { applied, db, settings }: Services): void {
  const catalogue = new CachedResponse(applied, ['decoration-defined'], async (language) => ({
    data: (await allDecorations(db)).map((gift) => publishedDecoration(gift, settings.assetBaseUrl, language)),
  }))

  app.get(
    '/decorations',
    {
      schema: {
        operationId: 'listDecorations',
        summary: 'All gifts, with their odds and return to player',
        description: 'The same for everybody and without a token: keep it with its ETag.',
        tags: ['gifts'],
        needsNoToken: true,
        response: { 200: dataOf(Type.Array(Decoration)), ...notModified },
      },
    },
    (request, reply) => catalogue.send(request, reply),
  )

  const odds = new OddsResponses(db)
  app.get(
    '/fairness/odds/:hash',
    {
      schema: {
        operationId: 'showOdds',
        summary: 'An odds table by its hash, current or former',
        description: 'A table never changes, so that it can be kept for ever.',
        tags: ['fairness'],
        needsNoToken: true,
        params: Type.Object({ hash: Type.String() }),
        response: { 200: dataOf(PublishedOddsTable), ...notModified },
      },
    },
    (request, reply) => odds.send(request, reply, request.params.hash),
  )
}

/** Tables in memory, some kilobytes each. */
const MAX_ODDS_TABLES = 1_000
const ODDS_RETENTION_MS = 60_000

/** Answers published odds tables, from memory where they were asked for lately. */
export class OddsResponses {
  readonly #db: Kysely<Tables>
  /** By hash: a table changes only when a rebuild corrects it. */
  readonly #known = new LRUCache<string, PreparedResponse>({ max: MAX_ODDS_TABLES, ttl: ODDS_RETENTION_MS })

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Sends the table with this hash; throws a 404 where there is none. */
  async send(request: FastifyRequest, reply: FastifyReply, hash: string): Promise<void> {
    const response = this.#known.get(hash) ?? (await this.#read(hash))
    response.send(request, reply, await response.variantFor(request))
  }

  async #read(hash: string): Promise<PreparedResponse> {
    const table = /^[0-9a-f]{64}$/.test(hash) ? await publishedOddsTable(this.#db, hash) : undefined
    if (table === undefined) throw notFound()
    const response = preparedJson({ data: table })
    this.#known.set(hash, response)
    return response
  }
}

/** Client routes through which players inspect their chains and draws. */
function luckyFairnessRoutes(app: App, services: Services, verbs: GiftVerbs): void {
  const { execute, db } = services
  const published = chainLookup(db)
  const drawPages = drawLookup(db)

  app.get(
    '/fairness/lucky',
    {
      schema: {
        operationId: 'showLuckyChain',
        summary: "The caller's current chain of draws and the next one, with their commitments",
        description:
          'Ask before the first lucky gift: then its draw was announced. The commitment of the next chain is shown one chain ahead.',
        tags: ['fairness'],
        refusals: verbs.showChains.refusals,
        response: { 200: dataOf(PublishedChains) },
      },
    },
    async (request, reply) => {
      const user_id = userOf(request)
      const found = await published.load(user_id)
      return found === null ? await execute(request, reply, verbs.showChains, { user_id }) : { data: found }
    },
  )

  app.put(
    '/fairness/lucky',
    {
      schema: {
        operationId: 'chooseLuckySeed',
        summary: 'End the current chain and start the next one with a seed of the caller',
        description: 'Always works. The next chain begins, whose commitment was shown before the seed was chosen.',
        tags: ['fairness'],
        body: ChooseSeed,
        refusals: verbs.chooseSeed.refusals,
        response: { 200: dataOf(PublishedChains) },
      },
    },
    (request, reply) =>
      execute(request, reply, verbs.chooseSeed, { user_id: userOf(request), client_seed: request.body.client_seed }),
  )

  app.get(
    '/fairness/lucky/draws',
    {
      // A page can show as many orders as a hundred sends have.
      config: { cost: 4 },
      schema: {
        operationId: 'listLuckyDraws',
        summary: "The caller's drawn sends, newest first, with all that is needed to verify them",
        description: 'A page of sends with many orders ends early; next_cursor is null on the last page.',
        tags: ['fairness'],
        querystring: PageQuery,
        response: { 200: pageOf(PublishedDraw) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 1)
      const { draws, hasMore } = await drawPages({ userId: userOf(request), before: cursor?.[0] ?? null, limit })
      const page = pageBody(draws, hasMore, ({ position }) => [position])
      return { ...page, data: page.data.map(({ draw }) => draw) }
    },
  )
}
