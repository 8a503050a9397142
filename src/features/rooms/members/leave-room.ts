import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { rooms } from '../room.ts'
import { dependentRoomRefKeys, type RoomRef, resolveRoomRef, roomRefKeys } from '../room-ref.ts'
import { isMember, leftEvent, memberKeys } from './member.ts'
import type { Seats } from './seats.ts'

export interface LeaveRoom {
  readonly caller_id: number
  readonly room: RoomRef
}

const refusals = ['not_found', 'room_owner', 'not_room_member', 'in_open_game'] as const

/**
 * Ends the caller's membership. Refusals, in this order: `not_found` (room), `room_owner`, `not_room_member`,
 * `in_open_game` (while seated in the room's open game).
 */
export const leaveRoom = (seats: Seats): Verb<LeaveRoom, null, typeof refusals> => ({
  refusals,
  reads: ({ room }) => roomRefKeys(room),
  dependentReads: (state, { room, caller_id }) => {
    const roomId = resolveRoomRef(state, room)
    return roomId === undefined
      ? dependentRoomRefKeys(state, room)
      : [
          ...dependentRoomRefKeys(state, room),
          ...memberKeys(roomId, caller_id),
          ...seats.keys(state, roomId, caller_id),
        ]
  },
  decide: (state, { room, caller_id }) => {
    const roomId = resolveRoomRef(state, room)
    if (roomId === undefined) return refuse('not_found')
    if (state.get(rooms, String(roomId))?.owner_id === caller_id) return refuse('room_owner')
    if (!isMember(state, roomId, caller_id)) return refuse('not_room_member')
    if (seats.refund(state, roomId, caller_id) !== undefined) return refuse('in_open_game')
    return [leftEvent(roomId, caller_id)]
  },
  result: () => null,
})
