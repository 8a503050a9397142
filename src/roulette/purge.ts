import type { Game as PublishedGame } from '../../schema/roulette.ts'
import type { State, Verb } from '../ledger/decider.ts'
import { type Movement, obstacle } from '../ledger/movement.ts'
import { keyOf } from '../ledger/state.ts'
import type { Micros } from '../ledger/time.ts'
import { roomProfiles } from '../rooms/room.ts'
import { cancelling } from './cancel.ts'
import { answerGame, gameKeys, peopleKeys, pursesOf } from './find.ts'
import { type Game, games } from './game.ts'

export interface PurgeGames {
  /** Since they were created. */
  readonly older_than_minutes: number
  /** Whether to answer only what would be cancelled. */
  readonly dry_run: boolean
}

/** Games in one purge: with 50 players each it took a quarter of a second on two busy cores, for which all others wait. */
export const MOST_PURGED = 100

/**
 * Cancels games that nobody finished, and pays everyone back. `candidates` (at most `MOST_PURGED`) were open a moment
 * ago; of them counts what still is. A game that cannot be paid back (a balance would pass the limit) stays open.
 */
export const purgeGames = (candidates: readonly number[]): Verb<PurgeGames, readonly PublishedGame[]> => ({
  reads: () => candidates.flatMap(gameKeys),
  follow: (state) =>
    candidates.flatMap((id) => {
      const game = state.get(games, String(id))
      return game === undefined ? [] : [keyOf(roomProfiles, game.room_id), ...peopleKeys(game), ...pursesOf(game)]
    }),
  decide: (state, input, { now }) =>
    input.dry_run ? [] : purgeable(state, candidates, input, now).map((game) => cancelling(game)),
  answer: (state, input, events, { now }) => {
    const ids = input.dry_run
      ? purgeable(state, candidates, input, now).map(({ game_id }) => game_id)
      : events.flatMap((event) => (event.type === 'roulette-cancelled' ? [event.data.game_id] : []))
    return ids.flatMap((id) => {
      const game = state.get(games, String(id))
      return game === undefined ? [] : [answerGame(state, game)]
    })
  },
})

function purgeable(
  state: State,
  candidates: readonly number[],
  { older_than_minutes }: PurgeGames,
  now: Micros,
): readonly Game[] {
  const latest = now - older_than_minutes * 60_000_000
  const movements: Movement[] = []
  return candidates.flatMap((id) => {
    const game = state.get(games, String(id))
    if (game?.status !== 'open' || game.created_at > latest) return []
    const paid = cancelling(game).movements
    // One user may be in several of them.
    if (obstacle(state, [...movements, ...paid]) !== undefined) return []
    movements.push(...paid)
    return [game]
  })
}
