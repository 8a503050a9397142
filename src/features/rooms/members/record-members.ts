import type { EventData } from '../../../../schema/events.ts'
import { keyOf } from '../../../ledger/rules/projection.ts'
import type { State } from '../../../ledger/rules/state.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import type { Verb } from '../../../ledger/rules/verb.ts'
import { roomProfiles, rooms } from '../room.ts'
import { dropFormer, formerMembers, isOnLedger, memberKeys, recordedEvent, roomMemberKey } from './member.ts'

/** Candidates of one command: other commands wait for it, about 25 ms. */
export const MAX_RECORDED_MEMBERS = 500

export interface RecordMembers {
  /** Each once; former members and owners when they were read. */
  readonly candidates: readonly Candidate[]
}

type Candidate = Pick<EventData<'room-joined'>, 'room_id' | 'user_id'>

/**
 * Puts on the ledger who became a member when no event said so: those who joined in the version before, with the time
 * that was stored then, and owners, with the time of their room's definition. Returns how many; never refused.
 */
export const recordMembers: Verb<RecordMembers, number> = {
  refusals: [],
  reads: ({ candidates }) =>
    candidates.flatMap(({ room_id, user_id }) => [keyOf(roomProfiles, room_id), ...memberKeys(room_id, user_id)]),
  decide: (state, { candidates }) => {
    const byRoom = new Map<number, EventData<'room-members-recorded'>['members']>()
    for (const candidate of candidates) {
      const { room_id, user_id } = candidate
      const joined_at = joinedAt(state, candidate)
      if (joined_at === undefined || isOnLedger(state, room_id, user_id)) continue
      const members = byRoom.get(room_id)
      if (members === undefined) byRoom.set(room_id, [{ user_id, joined_at }])
      else members.push({ user_id, joined_at })
    }
    return [...byRoom].map(([room_id, members]) => recordedEvent(room_id, members))
  },
  sideWrites: (state, { candidates }) => {
    for (const { room_id, user_id } of candidates) {
      if (isOnLedger(state, room_id, user_id)) dropFormer(state, room_id, user_id)
    }
  },
  result: (_state, _input, events) =>
    events.reduce((sum, event) => sum + (event.type === 'room-members-recorded' ? event.data.members.length : 0), 0),
}

/** Undefined when the user has never joined, or when there is no such room. */
function joinedAt(state: State, { room_id, user_id }: Candidate): Micros | undefined {
  const room = state.get(rooms, String(room_id))
  if (room === undefined) return undefined
  const former = state.get(formerMembers, roomMemberKey(room_id, user_id))
  if (former !== undefined) return former.joined_at
  return room.owner_id === user_id ? state.get(roomProfiles, String(room_id))?.created_at : undefined
}
