import { Type } from '@sinclair/typebox'
import { isOn } from '../../../schema/common.ts'
import { Game, PurgeGames, SkippedGame } from '../../../schema/roulette.ts'
import type { App, Services } from '../services.ts'
import { MAX_PURGED_GAMES, purgeGames } from './old-games/purge.ts'
import { purgedGames } from './presenters.ts'
import { purgeCandidates } from './reads.ts'

/** Admin route for unfinished games. */
export function rouletteAdminRoutes(app: App, { execute, db }: Services): void {
  app.post(
    '/roulette/purge',
    {
      schema: {
        operationId: 'purgeRoulette',
        summary: `Cancel old open games, the oldest ${MAX_PURGED_GAMES} at a time, and refund all stakes`,
        description: `Games that cannot be refunded stay open and are listed as skipped, the oldest ${MAX_PURGED_GAMES}.`,
        tags: ['operators'],
        body: PurgeGames,
        response: {
          200: Type.Object({ data: Type.Array(Game), meta: Type.Object({ skipped: Type.Array(SkippedGame) }) }),
        },
      },
    },
    async (request, reply) => {
      const { older_than_minutes, dry_run } = request.body
      const candidates = await purgeCandidates(db, older_than_minutes, MAX_PURGED_GAMES)
      const input = { older_than_minutes, dry_run: isOn(dry_run) }
      await execute(request, reply, purgeGames(candidates), input, {
        body: (purged) => {
          const { games, skipped } = purgedGames(purged)
          return { data: games, meta: { skipped } }
        },
      })
    },
  )
}
