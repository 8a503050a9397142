import type { Kysely } from 'kysely'
import { dataOf } from '../../schema/common.ts'
import { RoomParams, RoomResource } from '../../schema/rooms.ts'
import type { Tables } from '../db/tables.ts'
import { userOf } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import { pathId } from '../http/ids.ts'
import type { App, Services } from '../http/services.ts'
import { joinRoom } from './members.ts'
import { roomById, roomIdOf } from './reads.ts'

const tags = ['rooms']

/** How a room's open game is found: games are another slice's. */
export type ActiveGame = (db: Kysely<Tables>, roomId: number) => Promise<RoomResource['active_roulette_game']>

/** The client's doors for rooms. */
export function roomRoutes(app: App, { db, settings }: Services, activeGame: ActiveGame): void {
  /** The id of the room that a path names; 404 when there is no such uid. An id need not be a room's. */
  const namedRoom = async (ref: string): Promise<number> => {
    const id = await roomIdOf(db, pathId(ref) ?? ref)
    if (id === null) throw notFound()
    return id
  }

  /** The room as it is shown; 404 when there is none. */
  const knownRoom = async (id: number): Promise<RoomResource> => {
    const room = await roomById(db, id, settings.assetBaseUrl)
    if (room === undefined) throw notFound()
    return { ...room, active_roulette_game: await activeGame(db, room.id) }
  }

  app.get(
    '/rooms/:uid',
    {
      schema: {
        operationId: 'getRoom',
        summary: 'A room, by uid or id',
        tags,
        params: RoomParams,
        response: { 200: dataOf(RoomResource) },
      },
    },
    async (request) => ({ data: await knownRoom(await namedRoom(request.params.uid)) }),
  )

  app.get(
    '/rooms/:uid/join',
    {
      // A HEAD would join, too.
      exposeHeadRoute: false,
      schema: {
        operationId: 'joinRoom',
        summary: 'Become a member of a room, by uid or id; again is harmless',
        tags,
        params: RoomParams,
        response: { 200: dataOf(RoomResource) },
      },
    },
    async (request) => {
      const id = await namedRoom(request.params.uid)
      await joinRoom(db, id, userOf(request))
      return { data: await knownRoom(id) }
    },
  )
}
