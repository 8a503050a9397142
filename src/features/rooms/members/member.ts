import type { Evolver, LedgerEvent } from '../../../ledger/rules/event.ts'
import {
  integer,
  type Key,
  keyOf,
  micros,
  projection,
  type State,
  type WritableState,
} from '../../../ledger/rules/projection.ts'
import { rooms } from '../room.ts'

/** A member of a room. */
export const roomMembers = projection('room_memberships', {
  room_id: integer(),
  user_id: integer(),
  joined_at: micros(),
})

export const roomMemberKey = (roomId: number, userId: number): string => `${roomId}:${userId}`

/** The rows that tell whether a user is a member, and that change when this changes. */
export function memberKeys(roomId: number, userId: number): readonly Key[] {
  return [keyOf(rooms, roomId), keyOf(roomMembers, roomMemberKey(roomId, userId))]
}

export const isMember = (state: State, roomId: number, userId: number): boolean =>
  state.get(roomMembers, roomMemberKey(roomId, userId)) !== undefined

export const joinedEvent = (room_id: number, user_id: number): LedgerEvent<'room-joined'> => ({
  type: 'room-joined',
  data: { room_id, user_id },
  movements: [],
})

export const leftEvent = (room_id: number, user_id: number): LedgerEvent<'room-left'> => ({
  type: 'room-left',
  data: { room_id, user_id },
  movements: [],
})

/** Throws on events that no verb could have written: of a member who joins again, or of one who leaves and is none. */
export const evolveMembers: Evolver = {
  'room-joined': (state, { data: { room_id, user_id }, at }) => {
    if (isMember(state, room_id, user_id)) throw new Error(`user ${user_id} already is a member of room ${room_id}`)
    state.set(roomMembers, roomMemberKey(room_id, user_id), { room_id, user_id, joined_at: at })
    addToCount(state, room_id, 1)
  },
  'room-left': (state, { data: { room_id, user_id } }) => {
    if (!isMember(state, room_id, user_id)) throw new Error(`user ${user_id} is not a member of room ${room_id}`)
    state.set(roomMembers, roomMemberKey(room_id, user_id), undefined)
    addToCount(state, room_id, -1)
  },
}

function addToCount(state: WritableState, roomId: number, change: number): void {
  const room = state.get(rooms, String(roomId))
  if (room === undefined) throw new Error(`room ${roomId} does not exist`)
  state.set(rooms, String(roomId), { ...room, members_count: room.members_count + change })
}
