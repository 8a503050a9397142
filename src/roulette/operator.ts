import { Type } from '@sinclair/typebox'
import { dataOf, isOn } from '../../schema/common.ts'
import { Game, PurgeGames } from '../../schema/roulette.ts'
import type { App, Services } from '../http/services.ts'
import { MOST_PURGED, purgeGames } from './purge.ts'
import { oldOpenGames } from './reads.ts'

/** The operators' door for games that nobody finished. */
export function rouletteOperatorRoutes(app: App, { run, db }: Services): void {
  app.post(
    '/roulette/purge',
    {
      schema: {
        operationId: 'purgeRoulette',
        summary: `Cancel old open games, the oldest ${MOST_PURGED} at a time, and pay everyone back`,
        tags: ['operators'],
        body: PurgeGames,
        response: { 200: dataOf(Type.Array(Game)) },
      },
    },
    async (request, reply) => {
      const { older_than_minutes, dry_run } = request.body
      const candidates = await oldOpenGames(db, older_than_minutes, 0, MOST_PURGED)
      const input = { older_than_minutes, dry_run: isOn(dry_run) }
      await run(request, reply, purgeGames(candidates), input)
    },
  )
}
