import type { EventData } from '../../../../schema/events.ts'
import { integer, micros } from '../../../ledger/rules/columns.ts'
import type { LedgerEvent } from '../../../ledger/rules/event.ts'
import type { Evolver } from '../../../ledger/rules/evolve.ts'
import { type Key, keyOf, projection, type RowOf } from '../../../ledger/rules/projection.ts'
import type { State, WritableState } from '../../../ledger/rules/state.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import { rooms } from '../room.ts'

/** A member of a room. */
export const roomMembers = projection('room_memberships', {
  room_id: integer(),
  user_id: integer(),
  joined_at: micros(),
})

export type RoomMember = RowOf<typeof roomMembers>

/** A member whom no event names yet, who joined in the version before: `recordMembers` puts them on the ledger. */
export const formerMembers = projection('room_members', {
  room_id: integer(),
  user_id: integer(),
  joined_at: micros(),
})

export const roomMemberKey = (roomId: number, userId: number): string => `${roomId}:${userId}`

/** The rows that tell whether a user is a member, and that change when this changes. */
export function memberKeys(roomId: number, userId: number): readonly Key[] {
  const id = roomMemberKey(roomId, userId)
  return [keyOf(rooms, roomId), keyOf(roomMembers, id), keyOf(formerMembers, id)]
}

/** Whether the ledger says that the user is a member. */
export const isOnLedger = (state: State, roomId: number, userId: number): boolean =>
  state.get(roomMembers, roomMemberKey(roomId, userId)) !== undefined

export const isMember = (state: State, roomId: number, userId: number): boolean =>
  isOnLedger(state, roomId, userId) || state.get(formerMembers, roomMemberKey(roomId, userId)) !== undefined

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

/** Members of whom no event has said that they joined. */
export const recordedEvent = (
  room_id: number,
  members: EventData<'room-members-recorded'>['members'],
): LedgerEvent<'room-members-recorded'> => ({
  type: 'room-members-recorded',
  data: { room_id, members },
  movements: [],
})

/** The events by which a member leaves: one of whom no event names is put on the ledger first. */
export function leavingEvents(state: State, room_id: number, user_id: number): readonly LedgerEvent[] {
  const former = state.get(formerMembers, roomMemberKey(room_id, user_id))
  const left = leftEvent(room_id, user_id)
  if (former === undefined || isOnLedger(state, room_id, user_id)) return [left]
  return [recordedEvent(room_id, [{ user_id, joined_at: former.joined_at }]), left]
}

/** Deletes the row of a former member, whom the ledger names by now. */
export function dropFormer(state: WritableState, roomId: number, userId: number): void {
  const id = roomMemberKey(roomId, userId)
  if (state.get(formerMembers, id) !== undefined) state.set(formerMembers, id, undefined)
}

/** Throws on events that no verb could have written: of a member who joins again, or of one who leaves and is none. */
export const evolveMembers: Evolver = {
  'room-joined': (state, { data: { room_id, user_id }, at }) =>
    addMembers(state, room_id, [{ user_id, joined_at: at }]),
  'room-members-recorded': (state, { data: { room_id, members } }) => addMembers(state, room_id, members),
  'room-left': (state, { data: { room_id, user_id } }) => {
    if (!isOnLedger(state, room_id, user_id)) throw new Error(`user ${user_id} is not a member of room ${room_id}`)
    state.set(roomMembers, roomMemberKey(room_id, user_id), undefined)
    addToCount(state, room_id, -1)
  },
}

function addMembers(
  state: WritableState,
  room_id: number,
  members: readonly { readonly user_id: number; readonly joined_at: Micros }[],
): void {
  for (const { user_id, joined_at } of members) {
    if (isOnLedger(state, room_id, user_id)) throw new Error(`user ${user_id} already is a member of room ${room_id}`)
    state.set(roomMembers, roomMemberKey(room_id, user_id), { room_id, user_id, joined_at })
  }
  addToCount(state, room_id, members.length)
}

function addToCount(state: WritableState, roomId: number, change: number): void {
  const room = state.get(rooms, String(roomId))
  if (room === undefined) throw new Error(`room ${roomId} does not exist`)
  state.set(rooms, String(roomId), { ...room, members_count: room.members_count + change })
}
