import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { dataOf, isOn } from '../../../schema/common.ts'
import {
  Cancelled,
  CreateGame,
  CreateGameQuery,
  FinishedGame,
  Game,
  GameParams,
  JoinGame,
  type Game as PublishedGame,
  PurgeGames,
  RoomGamesParams,
  SkippedGame,
} from '../../../schema/roulette.ts'
import { userOf } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { parseId } from '../../ledger/rules/account.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import { MAX_PURGED_GAMES } from './cancel.ts'
import { gameFrames } from './frames.ts'
import { type GameOfRoom, gameLookup, purgeCandidates } from './reads.ts'
import { type RouletteVerbs, rouletteVerbs } from './verbs.ts'

/** Roulette: games in rooms, their spins, and the purge of unfinished games. */
export const rouletteSlice: Slice = {
  documentedPrefix: '/v1',
  configure(settings) {
    const verbs = rouletteVerbs(settings)
    return {
      verbs,
      routes: (app, services) => rouletteRoutes(app, services, verbs),
      adminRoutes: (app, services) => rouletteAdminRoutes(app, services, verbs),
    }
  },
  frameMapper: gameFrames,
}

const tags = ['roulette']
const base = '/rooms/:room_uid/games/roulette'

/** Client routes for roulette. */
function rouletteRoutes(app: App, services: Services, verbs: RouletteVerbs): void {
  const { execute, db, settings } = services
  const games = gameLookup(db, () => settings.assetBaseUrl)

  /** The game of a room, as `gameLookup`; 404 when the room does not exist. */
  const loadGame = async (room: string, game: GameOfRoom['game']): Promise<PublishedGame | null> => {
    const found = await games.load({ room, game })
    if (found === null) throw notFound()
    return found.game
  }

  app.get(
    base,
    {
      schema: {
        operationId: 'showRoulette',
        summary: 'The open game of a room, if there is one',
        description: '`data` is null without one.',
        tags,
        params: RoomGamesParams,
        response: { 200: dataOf(Type.Union([Game, Type.Null()])) },
      },
    },
    async (request) => ({ data: await loadGame(request.params.room_uid, null) }),
  )

  app.get(
    `${base}/:id`,
    {
      schema: {
        operationId: 'showRouletteGame',
        summary: 'A game by id or uid, open or ended, with all that is needed to verify its spin',
        description: 'The server seed is shown once the wheel was spun, and not before.',
        tags,
        params: GameParams,
        response: { 200: dataOf(Game) },
      },
    },
    async (request) => {
      const { room_uid, id } = request.params
      const game = await loadGame(room_uid, parseId(id) ?? id)
      if (game === null) throw notFound()
      return { data: game }
    },
  )

  app.post(
    `${base}/create`,
    {
      schema: {
        operationId: 'createRoulette',
        summary: 'Create a game and commit to its spin',
        description:
          'For members of the room; a room has one open game. With join_admin the creator pays and joins at once: without ' +
          'enough coins there is no game.',
        tags,
        params: RoomGamesParams,
        querystring: CreateGameQuery,
        body: CreateGame,
        refusals: verbs.openGame.refusals,
        response: { 201: dataOf(Game) },
      },
    },
    (request, reply) => {
      const { game_price, max_players, join_admin = request.query.join_admin, client_seed = '' } = request.body
      const input = { ...roomRequest(request), game_price, max_players, join_admin: isOn(join_admin), client_seed }
      return execute(request, reply, verbs.openGame, input)
    },
  )

  app.post(
    `${base}/join/:id`,
    {
      schema: {
        operationId: 'joinRoulette',
        summary: 'Pay the price and join a game',
        description: 'For members of the room. The price is taken in coins and paid back to those who leave.',
        tags,
        params: GameParams,
        body: JoinGame,
        refusals: verbs.joinGame.refusals,
        response: { 200: dataOf(Game) },
      },
    },
    (request, reply) => {
      const input = { ...gameRequest(request), client_seed: request.body.client_seed ?? '' }
      return execute(request, reply, verbs.joinGame, input)
    },
  )

  app.post(
    `${base}/leave/:id`,
    {
      config: { writes: 'charge-only' },
      schema: {
        operationId: 'leaveRoulette',
        summary: 'Leave an open game; the stake is refunded',
        description: 'Until the wheel is spun. The game continues without the player.',
        tags,
        params: GameParams,
        refusals: verbs.leaveGame.refusals,
        response: { 200: dataOf(Game) },
      },
    },
    (request, reply) => execute(request, reply, verbs.leaveGame, gameRequest(request)),
  )

  app.post(
    `${base}/finish/:id`,
    {
      config: { writes: 'charge-only' },
      schema: {
        operationId: 'finishRoulette',
        summary: 'Spin the wheel and pay the winner',
        description:
          'For the creator and the players, of whom there must be two; a full game does not spin by itself. The answer shows ' +
          'what proves the spin; verifyDraw takes it as it is. A game that nobody finishes is cancelled after a while, and ' +
          'all stakes are refunded: after 2 minutes without players, and by default 60 minutes after it was created.',
        tags,
        params: GameParams,
        refusals: verbs.finishGame.refusals,
        response: { 200: dataOf(FinishedGame) },
      },
    },
    (request, reply) => execute(request, reply, verbs.finishGame, gameRequest(request)),
  )

  app.delete(
    `${base}/:id`,
    {
      config: { writes: 'charge-only' },
      schema: {
        operationId: 'cancelRoulette',
        summary: 'Cancel a game of the caller; all stakes are refunded',
        description: 'For its creator, while the game is open.',
        tags,
        params: GameParams,
        refusals: verbs.cancelGame.refusals,
        response: { 200: Cancelled },
      },
    },
    (request, reply) => execute(request, reply, verbs.cancelGame, gameRequest(request)),
  )
}

type RequestWithParams<Params> = Pick<FastifyRequest, 'caller'> & { readonly params: Params }

const roomRequest = (request: RequestWithParams<{ readonly room_uid: string }>) => ({
  caller_id: userOf(request),
  room: request.params.room_uid,
})

const gameRequest = (request: RequestWithParams<{ readonly room_uid: string; readonly id: string }>) => ({
  ...roomRequest(request),
  game: parseId(request.params.id) ?? request.params.id,
})

/** Admin route for unfinished games. */
function rouletteAdminRoutes(app: App, services: Services, verbs: RouletteVerbs): void {
  const { execute, db } = services

  app.post(
    '/roulette/purge',
    {
      schema: {
        operationId: 'purgeRoulette',
        summary: `Cancel old open games, the oldest ${MAX_PURGED_GAMES} at a time, and refund all stakes`,
        description: `Games that cannot be refunded stay open and are listed as skipped, the oldest ${MAX_PURGED_GAMES}.`,
        tags: ['operators'],
        body: PurgeGames,
        refusals: verbs.purgeGames.refusals,
        response: {
          200: Type.Object(
            { data: Type.Array(Game), meta: Type.Object({ skipped: Type.Array(SkippedGame) }) },
            {
              description:
                'The games that were cancelled, or with dry_run would be; meta.skipped lists those that cannot be refunded',
            },
          ),
        },
      },
    },
    async (request, reply) => {
      const { older_than_minutes, dry_run } = request.body
      const prepared = await purgeCandidates(db, older_than_minutes, MAX_PURGED_GAMES)
      const purge = { older_than_minutes, dry_run: isOn(dry_run) }
      await execute(request, reply, verbs.purgeGames, { prepared, request: purge }, { request: purge })
    },
  )
}
