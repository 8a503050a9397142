import type { Person } from '../../../schema/common.ts'
import type { FinishedGame, Game as PublishedGame } from '../../../schema/roulette.ts'
import { isoMicros, plainSeconds } from '../../ledger/rules/time.ts'
import { type Game, potOf } from './game.ts'

/** A game as everyone sees it: the seed of its spin only once that was made. */
export function publishedGame(game: Game, roomUid: string, person: (userId: number) => Person): PublishedGame {
  const { uid, commitment, spin } = game
  return {
    id: game.game_id,
    uid,
    room_uid: roomUid,
    status: game.status,
    game_price: game.game_price,
    prize: game.prize,
    max_players: game.max_players,
    players_count: game.entries.length,
    pot: potOf(game),
    players: game.entries.map(({ user_id }) => person(user_id)),
    from: person(game.creator_id),
    winner: game.winner_id === null ? null : person(game.winner_id),
    fairness: {
      algorithm: 'rr1',
      game_uid: uid,
      commitment,
      ...(spin !== null && {
        server_seed: spin.server_seed,
        entries: [...game.entries],
        entries_hash: spin.entries_hash,
        draw: spin.draw,
      }),
    },
    created_at: plainSeconds(game.created_at),
    finished_at: game.ended_at === null ? null : isoMicros(game.ended_at),
  }
}

export const finishedGame = (game: PublishedGame): FinishedGame => ({
  ...game,
  losers: game.players.filter(({ id }) => id !== game.winner?.id),
})
