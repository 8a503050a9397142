import { dataOf, IdParams, PageQuery, pageOf } from '../../../schema/common.ts'
import { DefineRoom, MemberParams, RoomLeft, RoomRecord } from '../../../schema/rooms.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { readPage, toPage } from '../../http/pages.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import type { App, Services } from '../services.ts'
import { newestRooms, roomRow } from './reads.ts'
import { type RoomVerbs, roomRecord } from './verbs.ts'

const tags = ['operators']

/** Admin routes for rooms. */
export function roomAdminRoutes(app: App, { execute, db }: Services, verbs: RoomVerbs): void {
  app.put(
    '/rooms/:id',
    {
      schema: {
        operationId: 'defineRoom',
        summary: 'Create or change a room',
        description: 'Members join by themselves; the owner is one from the beginning.',
        tags,
        params: IdParams,
        body: DefineRoom,
        refusals: verbs.defineRoom.refusals,
        response: { 200: dataOf(RoomRecord) },
      },
    },
    (request, reply) => {
      const id = idInPath(request.params.id)
      const { uid, name, cover_url, owner_id } = request.body
      return execute(request, reply, verbs.defineRoom, { id, uid, name, cover_url, owner_id })
    },
  )

  app.get(
    '/rooms/:id',
    {
      schema: {
        operationId: 'getRoomRecord',
        summary: 'A room',
        description: 'As it was put, with what the room holds.',
        tags,
        params: IdParams,
        response: { 200: dataOf(RoomRecord) },
      },
    },
    async (request) => {
      const room = await roomRow(db, idInPath(request.params.id))
      if (room === undefined) throw notFound()
      return { data: roomRecord(room, room) }
    },
  )

  app.get(
    '/rooms',
    {
      schema: {
        operationId: 'pageRooms',
        summary: 'Rooms, newest first',
        description: 'With what each holds.',
        tags,
        querystring: PageQuery,
        response: { 200: pageOf(RoomRecord) },
      },
    },
    async (request) => {
      const { limit, cursor } = readPage(request.query, 2)
      const rows = await newestRooms(db, limit + 1, cursor)
      const page = toPage(rows, limit, ({ created_at, room_id }) => [created_at, room_id])
      return { ...page, data: page.data.map((room) => roomRecord(room, room)) }
    },
  )

  app.delete(
    '/rooms/:id/members/:user_id',
    {
      schema: {
        operationId: 'removeRoomMember',
        summary: 'Remove a member from a room; a seat in its open game is refunded first',
        description:
          'The user’s sockets are unsubscribed from the room. The user may join again. The owner cannot be removed ' +
          '(room_owner); when the refund would exceed the largest balance, nothing is changed (balance_limit).',
        tags,
        params: MemberParams,
        refusals: verbs.removeMember.refusals,
        response: { 200: RoomLeft },
      },
    },
    (request, reply) => {
      const input = { room_id: idInPath(request.params.id), user_id: idInPath(request.params.user_id) }
      return execute(request, reply, verbs.removeMember, input)
    },
  )
}
