import { Type } from '@sinclair/typebox'
import { isOn } from '../../../../schema/common.ts'
import { Game, PurgeGames, SkippedGame } from '../../../../schema/roulette.ts'
import type { App, Services } from '../../services.ts'
import { purgeCandidates } from '../reads.ts'
import type { RouletteVerbs } from '../verbs.ts'
import { MAX_PURGED_GAMES } from './purge.ts'

/** Admin route for unfinished games. */
export function rouletteAdminRoutes(app: App, services: Services, verbs: RouletteVerbs): void {
  const { execute, db } = services

  app.post(
    '/roulette/purge',
    {
      schema: {
        operationId: 'purgeRoulette',
        summary: `Cancel old open games, the oldest ${MAX_PURGED_GAMES} at a time, and refund all stakes`,
        description: `Games that cannot be refunded stay open and are listed as skipped, the oldest ${MAX_PURGED_GAMES}.`,
        tags: ['operators'],
        body: PurgeGames,
        refusals: verbs.purgeGames.refusals,
        response: {
          200: Type.Object(
            { data: Type.Array(Game), meta: Type.Object({ skipped: Type.Array(SkippedGame) }) },
            {
              description:
                'The games that were cancelled, or with dry_run would be; meta.skipped lists those that cannot be refunded',
            },
          ),
        },
      },
    },
    async (request, reply) => {
      const { older_than_minutes, dry_run } = request.body
      const prepared = await purgeCandidates(db, older_than_minutes, MAX_PURGED_GAMES)
      const purge = { older_than_minutes, dry_run: isOn(dry_run) }
      await execute(request, reply, verbs.purgeGames, { prepared, request: purge }, { request: purge })
    },
  )
}
