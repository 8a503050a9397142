import { isMember, leftEvent, memberKeys } from '../features/rooms/members/member.ts'
import { rooms } from '../features/rooms/room.ts'
import type { Verb } from '../ledger/rules/verb.ts'

export interface LeaveRooms {
  readonly user_id: number
  readonly room_ids: readonly number[]
}

/**
 * Ends a user's memberships in rooms of other owners. A seat in an open game stays, with the user's stake. Never refused.
 */
export const leaveRooms: Verb<LeaveRooms, null> = {
  refusals: [],
  reads: ({ user_id, room_ids }) => room_ids.flatMap((room_id) => memberKeys(room_id, user_id)),
  decide: (state, { user_id, room_ids }) =>
    room_ids.flatMap((room_id) => {
      const isOwner = state.get(rooms, String(room_id))?.owner_id === user_id
      return isOwner || !isMember(state, room_id, user_id) ? [] : [leftEvent(room_id, user_id)]
    }),
  result: () => null,
}
