import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { CreateGame, PurgeGames } from '../../../schema/roulette.ts'
import { inputSchema, messageOnly, preparedVerb, registerVerb } from '../../ledger/executor/command.ts'
import type { Settings } from '../services.ts'
import { cancelGame, cancelStaleGames, type PurgedGames, purgeGames } from './cancel.ts'
import { finishGame } from './finish.ts'
import type { NamedGame } from './game-lookup.ts'
import { openGame } from './open.ts'
import { finishedGame, publishedGame, purgedGames } from './presenters.ts'
import { joinGame, leaveGame } from './seats.ts'

const roomFields = { caller_id: Id, room: Type.Union([Id, Type.String()]) }
const gameFields = { ...roomFields, game: Type.Union([Id, Type.String()]) }

const GameRequest = inputSchema(Type.Object(gameFields))
const JoinGame = inputSchema(Type.Object({ ...gameFields, client_seed: Type.String() }))

const OpenGame = inputSchema(
  Type.Object({
    ...roomFields,
    game_price: CreateGame.properties.game_price,
    max_players: CreateGame.properties.max_players,
    join_admin: Type.Boolean(),
    client_seed: Type.String(),
  }),
)

const PurgeRequest = inputSchema(
  Type.Object({
    prepared: Type.Array(Id),
    request: Type.Object({
      older_than_minutes: PurgeGames.properties.older_than_minutes,
      dry_run: Type.Boolean(),
    }),
  }),
)

const StaleGames = inputSchema(
  Type.Object({
    candidates: Type.Array(Id),
    max_open_minutes: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  }),
)

/** Run by the service itself; its answer is the number of cancelled games. */
export const registeredStaleGames = registerVerb('cancel-stale-games', StaleGames, cancelStaleGames)

/** The verbs of roulette. */
export function rouletteVerbs(settings: Settings) {
  const gameBody = (game: NamedGame) => ({ data: publishedGame(game, settings.assetBaseUrl) })
  const purgeBody = (purged: PurgedGames) => {
    const { games, skipped } = purgedGames(purged, settings.assetBaseUrl)
    return { data: games, meta: { skipped } }
  }
  return {
    openGame: registerVerb(
      'open-game',
      OpenGame,
      openGame({ spins: settings.spinSeeds, feePercent: settings.rouletteFeePercent }),
      {
        status: 201,
        body: gameBody,
      },
    ),
    joinGame: registerVerb('join-game', JoinGame, joinGame, { body: gameBody }),
    leaveGame: registerVerb('leave-game', GameRequest, leaveGame, { body: gameBody }),
    finishGame: registerVerb('finish-game', GameRequest, finishGame(settings.spinSeeds), {
      body: (game) => ({ data: finishedGame(game, settings.assetBaseUrl) }),
    }),
    cancelGame: registerVerb(
      'cancel-game',
      GameRequest,
      cancelGame,
      messageOnly({
        en: 'The game is cancelled and everyone is paid back.',
        ar: 'أُلغيت اللعبة وأُعيدت المبالغ إلى جميع اللاعبين.',
      }),
    ),
    purgeGames: registerVerb('purge-games', PurgeRequest, preparedVerb([], purgeGames), { body: purgeBody }),
    cancelStaleGames: registeredStaleGames,
  }
}

export type RouletteVerbs = ReturnType<typeof rouletteVerbs>
