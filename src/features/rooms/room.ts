import { parseId } from '../../ledger/rules/account.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import {
  integer,
  type Key,
  keyOf,
  micros,
  projection,
  type RowOf,
  type State,
  text,
} from '../../ledger/rules/projection.ts'

/** Ledger data of a room: what rules about value depend on. */
export const rooms = projection('rooms', {
  room_id: integer(),
  owner_id: integer(),
  trophy_points: integer(),
  members_count: integer(),
})

export type Room = RowOf<typeof rooms>

/** Profile data, which is not part of the ledger. */
export const roomProfiles = projection('room_profiles', {
  room_id: integer(),
  uid: text(),
  name: text(),
  cover_url: text(),
  created_at: micros(),
  updated_at: micros(),
  updated_by: text(),
  uid_folded: text(),
  name_folded: text(),
})

export type RoomProfile = RowOf<typeof roomProfiles>

/** The room that has a uid now. */
export const roomUids = projection('room_uids', {
  uid: text(),
  room_id: integer(),
})

export const evolveRooms: Evolver = {
  'room-defined': (state, { data }) => {
    const id = String(data.room_id)
    const before = state.get(rooms, id)
    state.set(rooms, id, {
      room_id: data.room_id,
      owner_id: data.owner_id,
      trophy_points: before?.trophy_points ?? 0,
      members_count: before?.members_count ?? 0,
    })
  },
  'gift-sent': (state, { data }) => {
    if (data.trophy_points === 0) return
    const room = state.get(rooms, String(data.room_id))
    if (room === undefined) throw new Error(`room ${data.room_id} does not exist`)
    state.set(rooms, String(data.room_id), { ...room, trophy_points: room.trophy_points + data.trophy_points })
  },
}

/**
 * A room as a request names it. Text, of a path or of JSON, is a uid or else an id in canonical digits; a number is an
 * id or else a uid.
 */
export type RoomRef = number | string

/** The rows that the reference names. */
export function roomRefKeys(ref: RoomRef): readonly Key[] {
  if (typeof ref === 'number') return [keyOf(rooms, ref)]
  const id = parseId(ref)
  return [keyOf(roomUids, ref), ...(id === null ? [] : [keyOf(rooms, id)])]
}

/** The row of a uid, for a number that is no id; to be named once `roomRefKeys` are loaded. */
export const dependentRoomRefKeys = (state: State, ref: RoomRef): readonly Key[] =>
  typeof ref === 'number' && state.get(rooms, String(ref)) === undefined ? [keyOf(roomUids, ref)] : []

/** The id of the room; undefined when there is none, or when the row of a uid is not loaded yet. */
export function resolveRoomRef(state: State, ref: RoomRef): number | undefined {
  const idOf = (id: number | null): number | undefined =>
    id === null ? undefined : state.get(rooms, String(id))?.room_id
  if (typeof ref === 'string') return state.get(roomUids, ref)?.room_id ?? idOf(parseId(ref))
  const uid = String(ref)
  return idOf(ref) ?? (state.isLoaded(roomUids, uid) ? state.get(roomUids, uid)?.room_id : undefined)
}
