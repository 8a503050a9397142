import { transferError } from '../../ledger/rules/account.ts'
import type { Evolver, LedgerEvent } from '../../ledger/rules/event.ts'
import {
  integer,
  type Key,
  keyOf,
  micros,
  projection,
  type State,
  type WritableState,
} from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { dependentRoomRefKeys, type RoomRef, resolveRoomRef, roomRefKeys, rooms } from './room.ts'

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

/** Seats of members in the open game of their room; another slice provides them. */
export interface Seats {
  /** The rows that tell whether a user is seated, and where the refund would go. */
  readonly keys: (state: State, roomId: number, userId: number) => readonly Key[]
  /** The event by which the user gets the stake back and gives up the seat; undefined without a seat. */
  readonly refund: (state: State, roomId: number, userId: number) => LedgerEvent | undefined
}

interface JoinRoom {
  readonly caller_id: number
  readonly room_id: number
}

/** Makes the caller a member; one who is a member already stays one. Refusal: `not_found` (room). */
export const joinRoom: Verb<JoinRoom, null, readonly ['not_found']> = {
  refusals: ['not_found'],
  reads: ({ room_id, caller_id }) => memberKeys(room_id, caller_id),
  decide: (state, { room_id, caller_id }) => {
    if (state.get(rooms, String(room_id)) === undefined) return refuse('not_found')
    return isMember(state, room_id, caller_id) ? [] : [joinedEvent(room_id, caller_id)]
  },
  result: () => null,
}

interface LeaveRoom {
  readonly caller_id: number
  readonly room: RoomRef
}

const leaveRefusals = ['not_found', 'room_owner', 'not_room_member', 'in_open_game'] as const

/**
 * Ends the caller's membership. Refusals, in this order: `not_found` (room), `room_owner`, `not_room_member`,
 * `in_open_game` (while seated in the room's open game).
 */
export const leaveRoom = (seats: Seats): Verb<LeaveRoom, null, typeof leaveRefusals> => ({
  refusals: leaveRefusals,
  reads: ({ room }) => roomRefKeys(room),
  dependentReads: (state, { room, caller_id }) => {
    const roomId = resolveRoomRef(state, room)
    const keys = dependentRoomRefKeys(state, room)
    if (roomId === undefined) return keys
    return [...keys, ...memberKeys(roomId, caller_id), ...seats.keys(state, roomId, caller_id)]
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

interface RemoveMember {
  readonly room_id: number
  readonly user_id: number
}

const removeRefusals = ['not_found', 'room_owner', 'insufficient_balance', 'balance_limit'] as const

/**
 * Ends a user's membership; a seat in the room's open game is refunded first. The user may join again. Refusals, in this
 * order: `not_found` (room), `room_owner`, `not_found` (no member), `balance_limit` (of the refund; nothing is changed
 * then).
 */
export const removeMember = (seats: Seats): Verb<RemoveMember, null, typeof removeRefusals> => ({
  refusals: removeRefusals,
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
