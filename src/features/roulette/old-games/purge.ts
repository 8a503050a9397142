import type { Movement } from '../../../ledger/rules/event.ts'
import { transferError, transfers } from '../../../ledger/rules/movement.ts'
import { type Key, keyOf } from '../../../ledger/rules/projection.ts'
import type { State } from '../../../ledger/rules/state.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import type { Verb } from '../../../ledger/rules/verb.ts'
import { roomProfiles } from '../../rooms/room.ts'
import { cancelledEvent } from '../cancel.ts'
import { type Game, gameAccount, games } from '../game.ts'
import { coinAccount, gameKeys, type NamedGame, namedGame, playerBalanceKeys, profileKeys } from '../game-lookup.ts'

export interface SkippedGame extends NamedGame {
  readonly code: 'balance_limit' | 'insufficient_balance'
  /** Whose balances stand in the way. */
  readonly user_ids: readonly number[]
}

export interface PurgedGames {
  readonly games: readonly NamedGame[]
  readonly skipped: readonly SkippedGame[]
}

export interface PurgeGames {
  /** Since they were created. */
  readonly older_than_minutes: number
  /** Whether to answer only what would be cancelled. */
  readonly dry_run: boolean
}

/** Games in one purge: with 50 players each it took a quarter of a second on two busy cores, for which all others wait. */
export const MAX_PURGED_GAMES = 100

/** In microseconds. */
export const MICROS_PER_MINUTE = 60_000_000

/**
 * Cancels games that nobody finished, and pays everyone back. `candidates` were open a moment ago; of them counts what
 * still is, the first `MOST_PURGED`. A game that cannot be paid back (a balance would pass the limit) stays open and is
 * answered among those skipped.
 */
export const purgeGames = (candidates: readonly number[]): Verb<PurgeGames, PurgedGames> => ({
  reads: () => candidates.flatMap(gameKeys),
  dependentReads: (state) => candidateKeys(state, candidates),
  decide: (state, input, { now }) =>
    input.dry_run
      ? []
      : partitionCandidates(state, candidates, isOld(input, now)).payable.map((game) => cancelledEvent(game)),
  result: (state, input, events, { now }) => {
    const { payable, skipped } = partitionCandidates(state, candidates, isOld(input, now))
    const ids = input.dry_run
      ? payable.map(({ game_id }) => game_id)
      : events.flatMap((event) => (event.type === 'roulette-cancelled' ? [event.data.game_id] : []))
    const shown = ids.flatMap((id) => {
      const game = state.get(games, String(id))
      return game === undefined ? [] : [namedGame(state, game)]
    })
    return { games: shown, skipped }
  },
})

const isOld =
  ({ older_than_minutes }: PurgeGames, now: Micros) =>
  ({ created_at }: Game): boolean =>
    created_at <= now - older_than_minutes * MICROS_PER_MINUTE

/** What is read of games that may be cancelled, once the games themselves are known. */
export const candidateKeys = (state: State, candidates: readonly number[]): readonly Key[] =>
  candidates.flatMap((id) => {
    const game = state.get(games, String(id))
    return game === undefined
      ? []
      : [keyOf(roomProfiles, game.room_id), ...profileKeys(game), ...playerBalanceKeys(game)]
  })

interface PartitionedGames {
  /** At most `MOST_PURGED`, which can be paid back together. */
  readonly payable: Game[]
  readonly skipped: SkippedGame[]
}

/** Which of the candidates are open and due, and can be paid back. */
export function partitionCandidates(
  state: State,
  candidates: readonly number[],
  isDue: (game: Game) => boolean,
): PartitionedGames {
  const movements: Movement[] = []
  const { payable, skipped }: PartitionedGames = { payable: [], skipped: [] }
  for (const id of candidates) {
    const game = state.get(games, String(id))
    if (game?.status !== 'open' || !isDue(game)) continue
    const refunds = cancelledEvent(game).movements
    // One user may be in several of them.
    const error = transferError(state, [...movements, ...refunds])
    if (error !== undefined) {
      skipped.push({ ...namedGame(state, game), code: error, user_ids: unpayableUserIds(state, movements, game) })
    } else if (payable.length < MAX_PURGED_GAMES) {
      movements.push(...refunds)
      payable.push(game)
    }
  }
  return { payable, skipped }
}

/** Whose balances stand in the way. */
const unpayableUserIds = (state: State, before: readonly Movement[], { game_id, entries }: Game): number[] =>
  entries.flatMap(({ user_id, stake }) => {
    const refund = transfers([gameAccount(game_id), coinAccount(user_id), stake])
    return transferError(state, [...before, ...refund]) === undefined ? [] : [user_id]
  })
