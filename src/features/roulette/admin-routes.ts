import { Type } from '@sinclair/typebox'
import { isOn } from '../../../schema/common.ts'
import { Game, PurgeGames, SkippedGame } from '../../../schema/roulette.ts'
import type { App, Services } from '../services.ts'
import { MOST_PURGED, purgeGames } from './old-games/purge.ts'
import { oldestGames } from './reads.ts'

/** The operators' door for games that nobody finished. */
export function rouletteOperatorRoutes(app: App, { run, db }: Services): void {
  app.post(
    '/roulette/purge',
    {
      schema: {
        operationId: 'purgeRoulette',
        summary: `Cancel old open games, the oldest ${MOST_PURGED} at a time, and pay everyone back`,
        description: `Games whose players cannot be paid back stay open and are told as skipped, the oldest ${MOST_PURGED}.`,
        tags: ['operators'],
        body: PurgeGames,
        response: {
          200: Type.Object({ data: Type.Array(Game), meta: Type.Object({ skipped: Type.Array(SkippedGame) }) }),
        },
      },
    },
    async (request, reply) => {
      const { older_than_minutes, dry_run } = request.body
      const candidates = await oldestGames(db, older_than_minutes, MOST_PURGED)
      const input = { older_than_minutes, dry_run: isOn(dry_run) }
      await run(request, reply, purgeGames(candidates), input, {
        body: ({ games, skipped }) => ({ data: games, meta: { skipped } }),
      })
    },
  )
}
