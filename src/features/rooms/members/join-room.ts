import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { rooms } from '../room.ts'
import { isMember, joinedEvent, memberKeys } from './member.ts'

export interface JoinRoom {
  readonly caller_id: number
  readonly room_id: number
}

const refusals = ['not_found'] as const

/** Makes the caller a member; one who is a member already stays one. Refusal: `not_found` (room). */
export const joinRoom: Verb<JoinRoom, null, typeof refusals> = {
  refusals,
  reads: ({ room_id, caller_id }) => memberKeys(room_id, caller_id),
  decide: (state, { room_id, caller_id }) => {
    if (state.get(rooms, String(room_id)) === undefined) return refuse('not_found')
    return isMember(state, room_id, caller_id) ? [] : [joinedEvent(room_id, caller_id)]
  },
  result: () => null,
}
