import type { Evolver } from '../../ledger/rules/evolve.ts'
import { projection } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'

/** Ledger data of a room: what rules about value depend on. */
export interface Room {
  readonly room_id: number
  readonly owner_id: number
  readonly trophy_points: number
}

/** Profile data, which is not part of the ledger. */
export interface RoomProfile {
  readonly room_id: number
  readonly uid: string
  readonly name: string
  readonly cover_url: string
  readonly created_at: Micros
  readonly updated_at: Micros
  readonly updated_by: string
}

export interface RoomUid {
  readonly uid: string
  readonly room_id: number
}

export const rooms = projection<Room>('rooms')
export const roomProfiles = projection<RoomProfile>('room_profiles')
/** The room that has a uid now. */
export const roomUids = projection<RoomUid>('room_uids')

/** A user who joined a room. Written directly by the route, not part of the ledger. */
export interface RoomMember {
  readonly room_id: number
  readonly user_id: number
}

export const roomMembers = projection<RoomMember>('room_members')
export const roomMemberKey = (roomId: number, userId: number): string => `${roomId}:${userId}`

export const evolveRooms: Evolver = {
  'room-defined': (state, { data }) => {
    const id = String(data.room_id)
    state.set(rooms, id, {
      room_id: data.room_id,
      owner_id: data.owner_id,
      trophy_points: state.get(rooms, id)?.trophy_points ?? 0,
    })
  },
  'gift-sent': (state, { data }) => {
    if (data.trophy_points === 0) return
    const room = state.get(rooms, String(data.room_id))
    if (room === undefined) throw new Error(`room ${data.room_id} does not exist`)
    state.set(rooms, String(data.room_id), { ...room, trophy_points: room.trophy_points + data.trophy_points })
  },
}
