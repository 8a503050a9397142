import type { RouletteEntry } from '../../../schema/events.ts'
import { type Account, account, balanceOf, balances } from '../../ledger/rules/account.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { percentOf } from '../../ledger/rules/money.ts'
import {
  integer,
  json,
  micros,
  nullable,
  projection,
  type RowOf,
  type State,
  text,
  type WritableState,
} from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'

/** A roulette game of a room. */
export const games = projection('roulette_games', {
  /** Position of the event that created it. */
  game_id: integer(),
  uid: text(),
  room_id: integer(),
  creator_id: integer(),
  status: text<'open' | 'finished' | 'cancelled'>(),
  /** Coins. */
  game_price: integer(),
  max_players: integer(),
  fee_percent: integer(),
  /** Coins: while open the prize of a full game, after the finish what the winner was paid. */
  prize: integer(),
  /** In the order of joining; kept after the game has ended. */
  entries: json<readonly RouletteEntry[]>(),
  incarnation: text(),
  commitment: text(),
  winner_id: nullable(integer()),
  spin: nullable(json<Spin>()),
  created_at: micros(),
  /** Since when the game has had no players; null while it has any, and after it has ended. */
  empty_since: nullable(micros()),
  ended_at: nullable(micros()),
  /** Position of the event that finished or cancelled it. */
  end_position: nullable(integer()),
})

export type Game = RowOf<typeof games>

/** How the winner was drawn. */
export interface Spin {
  readonly server_seed: string
  readonly entries_hash: string
  /** Which entry won, from 0. */
  readonly draw: number
}

/** The open game of each room that has one. */
export const openGames = projection('roulette_open_games', {
  room_id: integer(),
  game_id: integer(),
})

export const gameAccount = (gameId: number): Account => account('game', gameId, 'coins')

/** Coins paid in by all players. */
export const potOf = ({ entries }: Pick<Game, 'entries'>): number => entries.reduce((sum, { stake }) => sum + stake, 0)

/** Coins: the pot less the house's fee, rounded down. */
export const prizeOf = (pot: number, feePercent: number): number => percentOf(pot, 100 - feePercent)

export const entryOf = ({ entries }: Game, userId: number): RouletteEntry | undefined =>
  entries.find(({ user_id }) => user_id === userId)

/**
 * A game's uid contains its id, so that no table is needed to find it. It contains the time as well, for a ledger that was
 * restored from a backup: no new game may get the uid, and with it the seed, of a game whose seed is already known.
 */
export const gameUid = (gameId: number, now: Micros): string => `g-${gameId}-${now.toString(36)}`

/** The game id that an id or a uid refers to; null for a malformed uid. */
export function gameIdOf(ref: number | string): number | null {
  if (typeof ref === 'number') return ref
  const id = Number(/^g-([1-9]\d{0,15})-[0-9a-z]+$/.exec(ref)?.[1])
  return Number.isSafeInteger(id) ? id : null
}

/** Throws on events that no verb could have written: of a game that is not open, or with the wrong coins in its account. */
export const evolveGames: Evolver = {
  'roulette-created': (state, { data, position, at }) => {
    const { room_id } = data
    state.set(games, String(position), {
      game_id: position,
      uid: data.game_uid,
      room_id,
      creator_id: data.creator_id,
      status: 'open',
      game_price: data.game_price,
      max_players: data.max_players,
      fee_percent: data.fee_percent,
      prize: data.prize,
      entries: [],
      incarnation: data.incarnation,
      commitment: data.commitment,
      winner_id: null,
      spin: null,
      created_at: at,
      empty_since: at,
      ended_at: null,
      end_position: null,
    })
    state.set(openGames, String(room_id), { room_id, game_id: position })
    // The account is new with the game: its balance is loaded as empty.
    state.set(balances, gameAccount(position), undefined)
  },
  'roulette-joined': (state, { data: { game_id, user_id, stake, client_seed }, position }) => {
    const game = requireOpenGame(state, game_id)
    const entries = [...game.entries, { entry: position, user_id, stake, client_seed }]
    if (entries.length > game.max_players) throw new Error(`game ${game_id} has more players than max_players`)
    setOpenGame(state, { ...game, entries, empty_since: null })
  },
  'roulette-left': (state, { data: { game_id, user_id }, at }) => {
    const game = requireOpenGame(state, game_id)
    const entries = game.entries.filter((entry) => entry.user_id !== user_id)
    setOpenGame(state, { ...game, entries, empty_since: entries.length === 0 ? at : null })
  },
  'roulette-finished': (state, { data, position, at }) => {
    const game = requireOpenGame(state, data.game_id)
    const { winner_id, prize, server_seed, entries_hash, draw } = data
    if (game.entries[draw]?.user_id !== winner_id) throw new Error(`user ${winner_id} did not win game ${data.game_id}`)
    const spin = { server_seed, entries_hash, draw }
    setEndedGame(state, { ...game, status: 'finished', winner_id, prize, spin, ended_at: at, end_position: position })
  },
  'roulette-cancelled': (state, { data: { game_id }, position, at }) => {
    setEndedGame(state, {
      ...requireOpenGame(state, game_id),
      status: 'cancelled',
      ended_at: at,
      end_position: position,
    })
  },
}

function requireOpenGame(state: State, id: number): Game {
  const game = state.get(games, String(id))
  if (game?.status !== 'open') throw new Error(`game ${id} is not open`)
  return game
}

function setOpenGame(state: WritableState, game: Game): void {
  state.set(games, String(game.game_id), game)
  assertAccountHolds(state, game, potOf(game))
}

function setEndedGame(state: WritableState, game: Game): void {
  state.set(games, String(game.game_id), { ...game, empty_since: null })
  state.set(openGames, String(game.room_id), undefined)
  assertAccountHolds(state, game, 0)
}

function assertAccountHolds(state: State, { game_id }: Game, coins: number): void {
  const held = balanceOf(state, gameAccount(game_id))
  if (held !== coins) throw new Error(`game ${game_id} holds ${held} coins instead of ${coins}`)
}
