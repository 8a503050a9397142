import type { FastifyRequest } from 'fastify'
import { dataOf, PageQuery, pageOf } from '../../../schema/common.ts'
import { ListedRoom, RoomLeft, RoomMember, RoomParams, RoomResource, RoomsQuery } from '../../../schema/rooms.ts'
import { BatchedLookup, requestLimits } from '../../db/queries/batched-lookup.ts'
import { userOf } from '../../http/auth/caller.ts'
import { HttpError, notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { withAvatarUrl } from '../asset-url.ts'
import { sharedRefusals } from '../model.ts'
import type { App, Services } from '../services.ts'
import type { Slice } from '../slice.ts'
import { roomAdminRoutes } from './admin-routes.ts'
import type { Seats } from './member.ts'
import {
  type ActiveGameColumn,
  type FindRooms,
  findRooms,
  findRoomsWith,
  listedRoom,
  type MemberRow,
  type Membership,
  membershipsOf,
  membersOf,
  type UserAndRoom,
} from './reads.ts'
import type { RoomRef } from './room.ts'
import { type RoomVerbs, roomVerbs } from './verbs.ts'

/** Rooms and their members. Games and seats in them are another slice's. */
export function createRoomsSlice(activeGame: ActiveGameColumn, seats: Seats): Slice {
  const verbs = roomVerbs(seats)
  return {
    documentedPrefix: '/v1',
    configure: () => ({
      verbs,
      routes: (app, services) => roomRoutes(app, services, findRoomsWith(activeGame), verbs),
      adminRoutes: (app, services) => roomAdminRoutes(app, services, verbs),
    }),
  }
}

const tags = ['rooms']

const MAX_ROOMS_PER_QUERY = 100

/** Client routes for rooms. */
function roomRoutes(app: App, services: Services, findStates: FindRooms, verbs: RoomVerbs): void {
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

const MAX_MEMBERSHIPS_PER_QUERY = 100

/** Client routes for members of rooms. `loadRoom` throws a 404 when the room does not exist. */
function memberRoutes(
  app: App,
  { db, execute, settings }: Services,
  verbs: RoomVerbs,
  loadRoom: (roomId: number) => Promise<RoomResource>,
): void {
  const memberships = new BatchedLookup(
    MAX_MEMBERSHIPS_PER_QUERY,
    (requested: readonly UserAndRoom[]) => membershipsOf(db, requested),
    requestLimits(db),
  )

  /** What the caller is in the room of the path; 404 when it does not exist. */
  const membershipOf = async (
    request: Pick<FastifyRequest, 'caller'> & { readonly params: RoomParams },
  ): Promise<Membership> => {
    const found = await memberships.load({ room: request.params.uid, userId: userOf(request) })
    if (found === null) throw notFound()
    return found
  }

  app.get(
    '/rooms/:uid/join',
    {
      // A HEAD request would join, too.
      exposeHeadRoute: false,
      schema: {
        operationId: 'joinRoom',
        summary: 'Join a room, by uid or id; joining again has no effect',
        description:
          'A GET that writes: retry it freely, and never let it be prefetched. Nobody else is told of it: the room channel of ' +
          'the websocket has no event for who joins or leaves.',
        tags,
        params: RoomParams,
        refusals: verbs.joinRoom.refusals,
        response: { 200: dataOf(RoomResource) },
      },
    },
    async (request, reply) => {
      const { room_id, is_member } = await membershipOf(request)
      const room = async (): Promise<{ data: RoomResource }> => ({ data: await loadRoom(room_id) })
      if (is_member) return room()
      const input = { caller_id: userOf(request), room_id }
      await execute(request, reply, verbs.joinRoom, input, { hydrate: room })
      return reply
    },
  )

  app.post(
    '/rooms/:uid/leave',
    {
      schema: {
        operationId: 'leaveRoom',
        summary: 'Leave a room, by uid or id',
        description:
          'Refused, in this order: to its owner (room_owner), to those who are no members (not_room_member), and while ' +
          'the caller is seated in its open game (in_open_game). The user’s sockets are unsubscribed from the room.',
        tags,
        params: RoomParams,
        refusals: verbs.leaveRoom.refusals,
        response: { 200: RoomLeft },
      },
    },
    (request, reply) =>
      execute(request, reply, verbs.leaveRoom, { caller_id: userOf(request), room: request.params.uid }),
  )

  app.get(
    '/rooms/:uid/members',
    {
      schema: {
        operationId: 'listRoomMembers',
        summary: 'Members of a room, newest first; for its members',
        description: 'Others get 403 `not_room_member`.',
        tags,
        params: RoomParams,
        querystring: PageQuery,
        refusals: ['not_room_member'],
        response: { 200: pageOf(RoomMember) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 2)
      const { room_id, is_member } = await membershipOf(request)
      if (!is_member) {
        const { status, message } = sharedRefusals.not_room_member
        throw new HttpError(status, 'not_room_member', message)
      }
      const rows = await membersOf(db, room_id, limit + 1, cursor)
      const page = toPage(rows, limit, ({ joined_at, user_id }) => [joined_at, user_id])
      return { ...page, data: page.data.map((row) => roomMember(row, settings.assetBaseUrl)) }
    },
  )
}

/** A member as other members see one. */
const roomMember = ({ user_id, joined_at, ...profile }: MemberRow, assetBaseUrl: string): RoomMember => ({
  ...withAvatarUrl({ id: user_id, ...profile }, assetBaseUrl),
  joined_at: isoMicros(joined_at),
})
