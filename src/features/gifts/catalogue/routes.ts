import { Type } from '@sinclair/typebox'
import { dataOf } from '../../../../schema/common.ts'
import { PublishedOddsTable } from '../../../../schema/fairness.ts'
import { Decoration } from '../../../../schema/gifts.ts'
import { CachedResponse, notModified } from '../../../http/prepared-response.ts'
import type { App, Services } from '../../services.ts'
import { publishedDecoration } from '../presenters.ts'
import { allDecorations } from '../reads.ts'
import { OddsResponses } from './odds-responses.ts'

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
