import { dataOf, pageOf } from '../../../schema/common.ts'
import { ListedRoom, RoomParams, RoomResource, RoomsQuery } from '../../../schema/rooms.ts'
import { BatchedLookup, requestLimits } from '../../db/queries/batched-lookup.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import type { App, Services } from '../services.ts'
import { memberRoutes } from './members/routes.ts'
import { type FindRooms, findRooms, listedRoom } from './reads.ts'
import type { RoomRef } from './room-ref.ts'
import type { RoomVerbs } from './verbs.ts'

const tags = ['rooms']

const MAX_ROOMS_PER_QUERY = 100

/** Client routes for rooms. */
export function roomRoutes(app: App, services: Services, findStates: FindRooms, verbs: RoomVerbs): void {
  const { db, settings } = services
  const rooms = new BatchedLookup(
    MAX_ROOMS_PER_QUERY,
    async (refs: readonly RoomRef[]) => {
      const found = await findStates(db, refs, settings.assetBaseUrl)
      return refs.map((ref) => found.get(ref) ?? null)
    },
    requestLimits(db),
  )

  /** The room as users see it; 404 when it does not exist. */
  const loadRoom = async (ref: RoomRef): Promise<RoomResource> => {
    const room = await rooms.load(ref)
    if (room === null) throw notFound()
    return room
  }

  app.get(
    '/rooms',
    {
      schema: {
        operationId: 'findRooms',
        summary: 'Rooms, newest first: all, or those with a uid or the beginning of a name',
        description: 'A uid is compared whole, a name from its beginning, without regard to case.',
        tags,
        querystring: RoomsQuery,
        response: { 200: pageOf(ListedRoom) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 2)
      const { search = null } = request.query
      const rows = await findRooms(db, search, limit + 1, cursor)
      const page = toPage(rows, limit, ({ created_at, room_id }) => [created_at, room_id])
      return { ...page, data: page.data.map((room) => listedRoom(room, settings.assetBaseUrl)) }
    },
  )

  app.get(
    '/rooms/:uid',
    {
      schema: {
        operationId: 'getRoom',
        summary: 'A room, by uid or id',
        description: 'With its owner, its number of members and its open game.',
        tags,
        params: RoomParams,
        response: { 200: dataOf(RoomResource) },
      },
    },
    async (request) => ({ data: await loadRoom(request.params.uid) }),
  )

  memberRoutes(app, services, verbs, loadRoom)
}
