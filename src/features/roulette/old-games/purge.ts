import { type Movement, transferError, transfers } from '../../../ledger/rules/account.ts'
import { type Key, keyOf, type State } from '../../../ledger/rules/projection.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import type { Verb } from '../../../ledger/rules/verb.ts'
import { roomProfiles } from '../../rooms/room.ts'
import { cancelledEvent } from '../cancel.ts'
import { type Game, gameAccount, games } from '../game.ts'
import { coinAccount, gameKeys, type NamedGame, namedGame, playerBalanceKeys, profileKeys } from '../game-lookup.ts'

interface SkippedGame extends NamedGame {
  readonly code: 'balance_limit' | 'insufficient_balance'
  /** The players whose balances cannot take the refund. */
  readonly user_ids: readonly number[]
}

export interface PurgedGames {
  readonly games: readonly NamedGame[]
  readonly skipped: readonly SkippedGame[]
}

export interface PurgeGames {
  /** Minimum age since creation. */
  readonly older_than_minutes: number
  /** Whether to report the games without cancelling them. */
  readonly dry_run: boolean
}

/** Games per purge. With 50 players each it took 250 ms on two busy cores, during which other commands wait. */
export const MAX_PURGED_GAMES = 100

export const MICROS_PER_MINUTE = 60_000_000

/**
 * Cancels unfinished games and refunds all stakes, in coins. `candidates` were open when they were read; the first
 * `MAX_PURGED_GAMES` that still are get cancelled. A game that cannot be refunded (a balance would exceed the limit) stays
 * open and is reported as skipped. Never refused.
 */
export const purgeGames = (candidates: readonly number[]): Verb<PurgeGames, PurgedGames> => ({
  refusals: [],
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

/** The keys needed to cancel the candidates, once the games are loaded. */
export const candidateKeys = (state: State, candidates: readonly number[]): readonly Key[] =>
  candidates.flatMap((id) => {
    const game = state.get(games, String(id))
    return game === undefined
      ? []
      : [keyOf(roomProfiles, game.room_id), ...profileKeys(game), ...playerBalanceKeys(game)]
  })

interface PartitionedGames {
  /** At most `MAX_PURGED_GAMES`, all of which can be refunded together. */
  readonly payable: Game[]
  readonly skipped: SkippedGame[]
}

/** Splits the candidates that are open and due into those that can be refunded and those that cannot. */
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
    // A user may play in several of the games, so refunds are checked together.
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

/** The players whose balances could not take their refund. */
const unpayableUserIds = (state: State, before: readonly Movement[], { game_id, entries }: Game): number[] =>
  entries.flatMap(({ user_id, stake }) => {
    const refund = transfers([gameAccount(game_id), coinAccount(user_id), stake])
    return transferError(state, [...before, ...refund]) === undefined ? [] : [user_id]
  })
