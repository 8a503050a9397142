import type { FastifyRequest } from 'fastify'
import { dataOf, PageQuery, pageOf } from '../../../../schema/common.ts'
import { RoomLeft, RoomMember, RoomParams, RoomResource } from '../../../../schema/rooms.ts'
import { BatchedLookup, requestLimits } from '../../../db/queries/batched-lookup.ts'
import { userOf } from '../../../http/auth/caller.ts'
import { HttpError, notFound } from '../../../http/errors/http-error.ts'
import { readPage, toPage } from '../../../http/pages.ts'
import type { App, Services } from '../../services.ts'
import { sharedRefusals } from '../../shared-refusals.ts'
import { roomMember } from '../presenters.ts'
import type { RoomVerbs } from '../verbs.ts'
import { type Membership, membershipsOf, membersOf, type UserAndRoom } from './reads.ts'

const tags = ['rooms']

const MAX_MEMBERSHIPS_PER_QUERY = 100

/** Client routes for members of rooms. `loadRoom` throws a 404 when the room does not exist. */
export function memberRoutes(
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
