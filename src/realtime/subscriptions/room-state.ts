import type { Kysely } from 'kysely'
import type { RoomResource } from '../../../schema/rooms.ts'
import { BatchedLookup, SOCKET_LIMITS } from '../../db/queries/batched-lookup.ts'
import type { Tables } from '../../db/tables.ts'

/** A room as its route answers it, as of a position of the ledger. */
export interface RoomState {
  readonly position: number
  readonly room: RoomResource
}

/** Reads rooms by id in one statement, so that each is as of its position. Unknown rooms are missing. */
export type FindRoomStates = (db: Kysely<Tables>, roomIds: readonly number[]) => Promise<ReadonlyMap<number, RoomState>>

/** As many as one frame may ask for. */
const MAX_ROOMS_PER_QUERY = 50

/** Looks up the states of rooms; those that are asked for together share one statement. Null for an unknown room. */
export const roomStateLookup = (db: Kysely<Tables>, findStates: FindRoomStates) =>
  new BatchedLookup(
    MAX_ROOMS_PER_QUERY,
    async (ids: readonly number[]) => {
      const found = await findStates(db, [...new Set(ids)])
      return ids.map((id) => found.get(id) ?? null)
    },
    SOCKET_LIMITS,
  )
