import type { Evolver } from '../../ledger/rules/event.ts'
import { integer, micros, projection, type RowOf, text } from '../../ledger/rules/projection.ts'

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
