import { fieldMessages } from '../../language/messages.ts'
import { foldedNames } from '../../language/names.ts'
import { parseId } from '../../ledger/rules/account.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { keyOf, type State } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { users } from '../users/user.ts'
import { isMember, joinedEvent, memberKeys } from './member.ts'
import { type Room, type RoomProfile, roomProfiles, rooms, roomUids } from './room.ts'

/** Omitted fields keep their values, or get the defaults of a new room. A new room needs an owner. */
export interface DefineRoom {
  readonly id: number
  readonly uid?: string | undefined
  readonly name?: string | undefined
  readonly cover_url?: string | undefined
  readonly owner_id?: number | undefined
}

export interface DefinedRoom {
  readonly room: Room
  readonly profile: RoomProfile
}

const refusals = ['validation_failed'] as const

/**
 * Creates or changes a room. A new owner is an event of the ledger, who becomes a member; the former one stays a member.
 * Uid, name and cover are profile data. Refusal: `validation_failed` (uid that is taken or another room's id, id that is
 * another room's uid, missing or unknown owner).
 */
export const defineRoom: Verb<DefineRoom, DefinedRoom, typeof refusals> = {
  refusals,
  reads: ({ id, uid = defaultUid(id), owner_id }) => {
    const named = parseId(uid)
    return [
      keyOf(rooms, id),
      keyOf(roomProfiles, id),
      keyOf(roomUids, uid),
      keyOf(roomUids, id),
      ...(named === null ? [] : [keyOf(rooms, named)]),
      ...(owner_id === undefined ? [] : [keyOf(users, owner_id), ...memberKeys(id, owner_id)]),
    ]
  },

  decide(state, input) {
    const { id, owner_id } = input
    const before = state.get(rooms, String(id))
    const holder = state.get(roomUids, String(id))
    if (before === undefined && holder !== undefined)
      return refuse('validation_failed', {
        id: [{ en: 'This is the uid of another room.', ar: 'هذا المعرّف هو uid لغرفة أخرى.' }],
      })
    const { uid } = profileFields(state, input)
    if (uid !== state.get(roomProfiles, String(id))?.uid && isTaken(state, id, uid)) {
      return refuse('validation_failed', { uid: [fieldMessages.taken] })
    }
    if (owner_id === undefined) {
      return before === undefined ? refuse('validation_failed', { owner_id: [fieldMessages.required] }) : []
    }
    if (state.get(users, String(owner_id)) === undefined) {
      return refuse('validation_failed', { owner_id: [fieldMessages.unknown_user] })
    }
    if (owner_id === before?.owner_id) return []
    const defined = definedEvent(id, owner_id)
    return isMember(state, id, owner_id) ? [defined] : [defined, joinedEvent(id, owner_id)]
  },

  sideWrites(state, input, { now, actor }) {
    const before = state.get(roomProfiles, String(input.id))
    const after = profileFields(state, input)
    if (before !== undefined && isSameProfile(after, before)) return
    if (before !== undefined) state.set(roomUids, before.uid, undefined)
    state.set(roomUids, after.uid, { uid: after.uid, room_id: input.id })
    state.set(roomProfiles, String(input.id), {
      ...after,
      ...foldedNames(after),
      created_at: before?.created_at ?? now,
      updated_at: now,
      updated_by: actor,
    })
  },

  result(state, { id }) {
    const room = state.get(rooms, String(id))
    const profile = state.get(roomProfiles, String(id))
    if (room === undefined || profile === undefined) throw new Error(`room ${id} was not defined`)
    return { room, profile }
  },
}

/** Whether another room has the uid, or the id that it reads as. */
function isTaken(state: State, id: number, uid: string): boolean {
  const named = parseId(uid)
  const isOtherId = named !== null && named !== id && state.get(rooms, String(named)) !== undefined
  return isOtherId || state.get(roomUids, uid) !== undefined
}

const definedEvent = (room_id: number, owner_id: number): LedgerEvent => ({
  type: 'room-defined',
  data: { room_id, owner_id },
  movements: [],
})

const defaultUid = (id: number): string => `r${id}`

type ProfileFields = Pick<RoomProfile, 'room_id' | 'uid' | 'name' | 'cover_url'>

function profileFields(state: State, { id, uid, name, cover_url }: DefineRoom): ProfileFields {
  const before = state.get(roomProfiles, String(id))
  return {
    room_id: id,
    uid: uid ?? before?.uid ?? defaultUid(id),
    name: name ?? before?.name ?? `Room ${id}`,
    cover_url: cover_url ?? before?.cover_url ?? '',
  }
}

const isSameProfile = (a: ProfileFields, b: ProfileFields): boolean =>
  a.uid === b.uid && a.name === b.name && a.cover_url === b.cover_url
