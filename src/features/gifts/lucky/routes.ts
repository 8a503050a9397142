import { dataOf, PageQuery, pageOf } from '../../../../schema/common.ts'
import { ChooseSeed, PublishedChains, PublishedDraw } from '../../../../schema/fairness.ts'
import { userOf } from '../../../http/auth/caller.ts'
import { pageBody, readPage } from '../../../http/pages.ts'
import type { App, Services } from '../../services.ts'
import { chainLookup, drawLookup } from '../reads.ts'
import type { GiftVerbs } from '../verbs.ts'

/** Client routes through which players inspect their chains and draws. */
export function luckyFairnessRoutes(app: App, services: Services, verbs: GiftVerbs): void {
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
