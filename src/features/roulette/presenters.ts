import type { FinishedGame, Game as PublishedGame, PurgedGames as PublishedPurge } from '../../../schema/roulette.ts'
import { isoMicros, plainSeconds } from '../../ledger/rules/time.ts'
import { withAvatarUrl } from '../asset-url.ts'
import type { PurgedGames } from './cancel.ts'
import { type Game, potOf, type Spin } from './game.ts'
import type { NamedGame } from './game-lookup.ts'

/**
 * A game as everyone sees it. The seed of the spin is shown only after the spin. Addresses of avatars begin with
 * `assetBaseUrl`.
 */
export function publishedGame(
  { game, room_uid, creator, players, winner }: NamedGame,
  assetBaseUrl: string,
): PublishedGame {
  const { uid, incarnation, commitment, spin } = game
  return {
    id: game.game_id,
    uid,
    room_uid,
    status: game.status,
    game_price: game.game_price,
    prize: game.prize,
    max_players: game.max_players,
    players_count: game.entries.length,
    pot: potOf(game),
    players: players.map((player) => withAvatarUrl(player, assetBaseUrl)),
    from: withAvatarUrl(creator, assetBaseUrl),
    winner: winner && withAvatarUrl(winner, assetBaseUrl),
    fairness: {
      algorithm: 'rr1',
      game_uid: uid,
      incarnation,
      commitment,
      ...(spin !== null && publishedSpin(game, spin)),
    },
    created_at: plainSeconds(game.created_at),
    finished_at: game.ended_at === null ? null : isoMicros(game.ended_at),
  }
}

export function finishedGame(named: NamedGame, assetBaseUrl: string): FinishedGame {
  const game = publishedGame(named, assetBaseUrl)
  const { spin } = named.game
  if (spin === null) throw new Error(`game ${game.uid} has not been spun`)
  const fairness = { ...game.fairness, ...publishedSpin(named.game, spin) }
  return { ...game, fairness, losers: game.players.filter(({ id }) => id !== game.winner?.id) }
}

const publishedSpin = ({ entries }: Game, { server_seed, entries_hash, draw }: Spin) => ({
  server_seed,
  entries: [...entries],
  entries_hash,
  draw,
})

export const purgedGames = ({ games, skipped }: PurgedGames, assetBaseUrl: string): PublishedPurge => ({
  games: games.map((game) => publishedGame(game, assetBaseUrl)),
  skipped: skipped.map(({ game, room_uid, code, user_ids }) => ({
    id: game.game_id,
    uid: game.uid,
    room_uid,
    code,
    user_ids: [...user_ids],
  })),
})
