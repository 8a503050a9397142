import { Type } from '@sinclair/typebox'
import { LRUCache } from 'lru-cache'
import { dataOf } from '../../../../schema/common.ts'
import { PublishedOddsTable } from '../../../../schema/fairness.ts'
import { Decoration } from '../../../../schema/gifts.ts'
import { CachedResponse, notModified, preparedJson } from '../../../http/caching/cached-response.ts'
import type { PreparedResponse } from '../../../http/caching/prepared-response.ts'
import { notFound } from '../../../http/errors/http-error.ts'
import type { App, Services } from '../../services.ts'
import { publishedDecoration } from '../presenters.ts'
import { allDecorations, publishedOddsTable } from '../reads.ts'

/** Tables in memory, some kilobytes each. */
const MAX_ODDS_TABLES = 1_000
const ODDS_RETENTION_MS = 60_000

/** The routes of gifts and odds, which need no token and are answered from memory. */
export function catalogueRoutes(app: App, { applied, db, settings }: Services): void {
  const catalogue = new CachedResponse(applied, ['decoration-defined'], async (language) => ({
    data: (await allDecorations(db)).map((gift) => publishedDecoration(gift, settings.assetBaseUrl, language)),
  }))

  app.get(
    '/decorations',
    {
      schema: {
        operationId: 'listDecorations',
        summary: 'All gifts, with their odds and return to player',
        tags: ['gifts'],
        needsNoToken: true,
        response: { 200: dataOf(Type.Array(Decoration)), ...notModified },
      },
    },
    (request, reply) => catalogue.send(request, reply),
  )

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
    '/fairness/odds/:hash',
    {
      schema: {
        operationId: 'showOdds',
        summary: 'An odds table by its hash, current or former',
        tags: ['fairness'],
        needsNoToken: true,
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
