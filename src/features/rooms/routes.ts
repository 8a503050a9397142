import type { FastifyRequest } from 'fastify'
import { dataOf } from '../../../schema/common.ts'
import { RoomParams, RoomResource } from '../../../schema/rooms.ts'
import { BatchedLookup, requestLimits } from '../../db/queries/batched-lookup.ts'
import { userOf } from '../../http/auth/caller.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { pathId } from '../../http/validation/ids.ts'
import type { App, Services } from '../services.ts'
import { type FindRooms, findRoomIds, type RoomRef } from './reads.ts'
import { joinRoom } from './writes.ts'

const tags = ['rooms']

const MAX_ROOMS_PER_QUERY = 100

/** Client routes for rooms. */
export function roomRoutes(app: App, { applied, db, reads, settings }: Services, findRooms: FindRooms): void {
  const ids = new BatchedLookup(
    MAX_ROOMS_PER_QUERY,
    async (uids: readonly string[]) => {
      const found = await findRoomIds(db, uids)
      return uids.map((uid) => found.get(uid) ?? null)
    },
    requestLimits(db),
  )
  const rooms = reads.each(
    (source) =>
      new BatchedLookup(
        MAX_ROOMS_PER_QUERY,
        async (refs: readonly RoomRef[]) => {
          const found = await findRooms(source, refs, settings.assetBaseUrl)
          return refs.map((ref) => found.get(ref) ?? null)
        },
        requestLimits(source),
      ),
  )

  /** The room id of a path; 404 for an unknown uid. A numeric id is not checked here. */
  const resolveRoomId = async (ref: string): Promise<number> => {
    const id = pathId(ref) ?? (await ids.load(ref))
    if (id === null) throw notFound()
    return id
  }

  /** The room as users see it; 404 when it does not exist. */
  const loadRoom = async (request: FastifyRequest, ref: RoomRef): Promise<RoomResource> => {
    const room = await rooms(request).load(ref)
    if (room === null) throw notFound()
    return room
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
    async (request) => ({ data: await loadRoom(request, pathId(request.params.uid) ?? request.params.uid) }),
  )

  app.get(
    '/rooms/:uid/join',
    {
      // A HEAD request would join, too.
      exposeHeadRoute: false,
      config: { reads: 'primary' },
      schema: {
        operationId: 'joinRoom',
        summary: 'Join a room, by uid or id; joining again has no effect',
        tags,
        params: RoomParams,
        response: { 200: dataOf(RoomResource) },
      },
    },
    async (request) => {
      const id = await resolveRoomId(request.params.uid)
      await joinRoom(db, id, userOf(request))
      reads.recordWrite(request, applied.position)
      return { data: await loadRoom(request, id) }
    },
  )
}
