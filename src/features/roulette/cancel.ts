import { type Movement, transfer, transferError, transfers } from '../../ledger/rules/account.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { incarnationIn, incarnationKey } from '../../ledger/rules/incarnation.ts'
import { type Key, keyOf, type State } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { roomProfiles } from '../rooms/room.ts'
import { type Game, gameAccount, games } from './game.ts'
import {
  coinAccount,
  dependentGameKeys,
  endedRefusal,
  findGameInRoom,
  type GameRequest,
  gameKeys,
  gameRequestKeys,
  type NamedGame,
  namedGame,
  playerBalanceKeys,
  profileKeys,
  requestedPlayerBalanceKeys,
} from './game-lookup.ts'

const refusals = [
  'not_found',
  'not_game_creator',
  'game_finished',
  'game_cancelled',
  'insufficient_balance',
  'balance_limit',
] as const

/**
 * The creator cancels a game; all stakes are refunded, in coins. Refusals, in this order: `not_found` (room, game),
 * `not_game_creator`, `game_finished`, `game_cancelled`, `balance_limit`.
 */
export const cancelGame: Verb<GameRequest, null, typeof refusals> = {
  refusals,
  reads: gameRequestKeys,
  dependentReads: (state, input) => [...dependentGameKeys(state, input), ...requestedPlayerBalanceKeys(state, input)],
  decide: (state, input) => {
    const game = findGameInRoom(state, input)
    if (game === undefined) return refuse('not_found')
    if (game.creator_id !== input.caller_id) return refuse('not_game_creator')
    const ended = endedRefusal(game)
    if (ended !== undefined) return refuse(ended)
    const cancelled = cancelledEvent(game)
    const error = transferError(state, cancelled.movements)
    return error === undefined ? [cancelled] : refuse(error)
  },
  result: () => null,
}

const cancelledEvent = (game: Game): LedgerEvent<'roulette-cancelled'> => ({
  type: 'roulette-cancelled',
  data: { game_id: game.game_id, room_id: game.room_id, player_ids: game.entries.map(({ user_id }) => user_id) },
  movements: game.entries.map(({ user_id, stake }) => transfer(gameAccount(game.game_id), coinAccount(user_id), stake)),
})

/** A game without players is cancelled after this time, because it blocks its room. */
export const MAX_EMPTY_MINUTES = 2

interface StaleGames {
  /** Ids of games that were stale when they were read. */
  readonly candidates: readonly number[]
  /** Maximum age of an open game since creation; null for no limit. */
  readonly max_open_minutes: number | null
}

/**
 * Cancels candidates that are still open and stale (without players, too old, or from before commits were lost) and refunds
 * all stakes, in coins. A game that cannot be refunded (a balance would exceed the limit) stays open. Returns the number of
 * cancelled games.
 */
export const cancelStaleGames: Verb<StaleGames, number> = {
  refusals: [],
  reads: ({ candidates }) => [incarnationKey, ...candidates.flatMap(gameKeys)],
  dependentReads: (state, { candidates }) => candidateKeys(state, candidates),
  decide: (state, { candidates, max_open_minutes }, { now }) =>
    partitionCandidates(
      state,
      candidates,
      ({ empty_since, created_at, incarnation }) =>
        incarnation !== incarnationIn(state) ||
        (empty_since !== null && empty_since <= now - MAX_EMPTY_MINUTES * MICROS_PER_MINUTE) ||
        (max_open_minutes !== null && created_at <= now - max_open_minutes * MICROS_PER_MINUTE),
    ).payable.map((game) => cancelledEvent(game)),
  result: (_state, _input, events) => events.length,
}

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

const MICROS_PER_MINUTE = 60_000_000

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
const candidateKeys = (state: State, candidates: readonly number[]): readonly Key[] =>
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
function partitionCandidates(
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
