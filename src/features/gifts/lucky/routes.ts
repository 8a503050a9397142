import { Type } from '@sinclair/typebox'
import { LRUCache } from 'lru-cache'
import { dataOf, PageQuery, pageOf } from '../../../../schema/common.ts'
import { ChooseSeed, PublishedChains, PublishedDraw, PublishedOddsTable } from '../../../../schema/fairness.ts'
import { userOf } from '../../../http/auth/caller.ts'
import { notModified, preparedJson } from '../../../http/caching/cached-response.ts'
import type { PreparedResponse } from '../../../http/caching/prepared-response.ts'
import { notFound } from '../../../http/errors/http-error.ts'
import { pageBody, readPage } from '../../../http/pages.ts'
import type { App, Services } from '../../services.ts'
import { chainLookup, drawLookup, publishedOddsTable } from '../reads.ts'
import { giftVerbs } from '../verbs.ts'

/** Tables in memory, some kilobytes each. */
const MAX_ODDS_TABLES = 1_000
const ODDS_RETENTION_MS = 60_000

/** Client routes through which players inspect their chains, draws and odds. */
export function luckyFairnessRoutes(app: App, services: Services): void {
  const { execute, db, reads } = services
  const verbs = giftVerbs(services)
  const published = reads.each(chainLookup)
  const drawPages = reads.each(drawLookup)
  /** By hash: a table changes only when a rebuild corrects it. */
  const oddsTables = new LRUCache<string, PreparedResponse>({ max: MAX_ODDS_TABLES, ttl: ODDS_RETENTION_MS })

  const readOdds = async (hash: string): Promise<PreparedResponse> => {
    const table = /^[0-9a-f]{64}$/.test(hash) ? await publishedOddsTable(db, hash) : undefined
    if (table === undefined) throw notFound()
    const response = preparedJson({ data: table })
    oddsTables.set(hash, response)
    return response
  }

  app.get(
    '/fairness/lucky',
    {
      schema: {
        operationId: 'showLuckyChain',
        summary: "The caller's current chain of draws and the next one, with their commitments",
        tags: ['fairness'],
        refusals: verbs.showChains.refusals,
        response: { 200: dataOf(PublishedChains) },
      },
    },
    async (request, reply) => {
      const user_id = userOf(request)
      const found = await published(request).load(user_id)
      return found === null ? await execute(request, reply, verbs.showChains, { user_id }) : { data: found }
    },
  )

  app.put(
    '/fairness/lucky',
    {
      schema: {
        operationId: 'chooseLuckySeed',
        summary: 'End the current chain and start the next one with a seed of the caller',
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
      const { draws, more } = await drawPages(request)({ userId: userOf(request), before: cursor?.[0] ?? null, limit })
      const page = pageBody(draws, more, ({ position }) => [position])
      return { ...page, data: page.data.map(({ draw }) => draw) }
    },
  )

  app.get(
    '/fairness/odds/:hash',
    {
      schema: {
        operationId: 'showOdds',
        summary: 'An odds table by its hash, current or former',
        tags: ['fairness'],
        params: Type.Object({ hash: Type.String() }),
        response: { 200: dataOf(PublishedOddsTable), ...notModified },
      },
    },
    async (request, reply) => {
      const { hash } = request.params
      const response = oddsTables.get(hash) ?? (await readOdds(hash))
      response.send(request, reply, await response.variantFor(request))
    },
  )
}
