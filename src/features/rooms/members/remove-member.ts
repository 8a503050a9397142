import { transferError } from '../../../ledger/rules/account.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { rooms } from '../room.ts'
import { isMember, leftEvent, memberKeys } from './member.ts'
import type { Seats } from './seats.ts'

export interface RemoveMember {
  readonly room_id: number
  readonly user_id: number
}

const refusals = ['not_found', 'room_owner', 'insufficient_balance', 'balance_limit'] as const

/**
 * Ends a user's membership; a seat in the room's open game is refunded first. The user may join again. Refusals, in this
 * order: `not_found` (room), `room_owner`, `not_found` (no member), `balance_limit` (of the refund; nothing is changed
 * then).
 */
export const removeMember = (seats: Seats): Verb<RemoveMember, null, typeof refusals> => ({
  refusals,
  reads: ({ room_id, user_id }) => memberKeys(room_id, user_id),
  dependentReads: (state, { room_id, user_id }) => seats.keys(state, room_id, user_id),
  decide: (state, { room_id, user_id }) => {
    const room = state.get(rooms, String(room_id))
    if (room === undefined) return refuse('not_found')
    if (room.owner_id === user_id) return refuse('room_owner')
    if (!isMember(state, room_id, user_id)) return refuse('not_found')
    const refund = seats.refund(state, room_id, user_id)
    const left = leftEvent(room_id, user_id)
    if (refund === undefined) return [left]
    const error = transferError(state, refund.movements)
    return error === undefined ? [refund, left] : refuse(error)
  },
  result: () => null,
})
