import type { Kysely } from 'kysely'
import type { ClientFrame, Echo, FrameErrorCode } from '../../../schema/frames.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import type { RoomResource } from '../../../schema/rooms.ts'
import { BatchedLookup, SOCKET_LIMITS } from '../../db/queries/batched-lookup.ts'
import type { Tables } from '../../db/tables.ts'
import { type ChannelKey, roomChannel, userChannel } from '../frames/frame-mapper.ts'
import { socketMessages } from '../messages.ts'

/** A room that a user is a member of, as of a position of the ledger. */
export interface MemberOf {
  readonly roomId: number
  readonly position: number
}

/** The room with this uid, or else this id, if the user is a member of it, else null. */
export type MemberRoom = (ref: string, userId: number) => Promise<MemberOf | null>

/** A channel that a user may subscribe to. */
export interface ChannelAccess {
  readonly key: ChannelKey
  /** The position of the ledger that this is as of; null where it never changes. */
  readonly position: number | null
}

/** Why a user may not have a channel. */
export interface AccessRefusal {
  readonly code: FrameErrorCode
  readonly message: LocalizedText
  readonly retry?: true
}

export const NOT_ROOM_MEMBER = {
  code: 'not_room_member',
  message: socketMessages.not_room_member,
} as const satisfies AccessRefusal

/** For a user who left while the request was answered, and may have joined again since. */
export const LEFT_MEANWHILE = { ...NOT_ROOM_MEMBER, retry: true } as const satisfies AccessRefusal

/** The channel that a user means by a name, if the user may subscribe to it. */
export async function accessChannel(
  name: string,
  userId: number,
  memberRoom: MemberRoom,
): Promise<ChannelAccess | AccessRefusal> {
  const channel = parseChannelName(name)
  switch (channel?.kind) {
    case undefined:
      return { code: 'unknown_channel', message: socketMessages.unknown_channel }
    case 'global':
      return { key: 'global', position: null }
    case 'user': {
      const own = userChannel(userId)
      if (name === own) return { key: own, position: null }
      return { code: 'forbidden', message: socketMessages.forbidden }
    }
    case 'room': {
      const found = await memberRoom(channel.uid, userId)
      return found === null ? NOT_ROOM_MEMBER : { key: roomChannel(found.roomId), position: found.position }
    }
  }
}

/** A channel as a client names it. */
type NamedChannel =
  | { readonly kind: 'room'; readonly uid: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'global' }

const ROOM = 'one-to-room:'
const USER = 'user:'

/** Undefined when the name is of no known kind. */
function parseChannelName(name: string): NamedChannel | undefined {
  if (name === 'global') return { kind: 'global' }
  if (name.startsWith(ROOM) && name.length > ROOM.length) return { kind: 'room', uid: name.slice(ROOM.length) }
  if (name.startsWith(USER)) return { kind: 'user', id: name.slice(USER.length) }
  return undefined
}

export type SubFrame = Extract<ClientFrame, { t: 'sub' }>

/** What a client asks for of one channel. */
export interface ChannelRequest {
  readonly i: Echo
  readonly ch: string
  /**
   * A position that the client has; null when it asks for what comes from now on; `lost` when it has one from before
   * commits were lost, after which nobody knows what it has.
   */
  readonly since: number | null | 'lost'
  /** Whether it asks for the state of a room; no other channel has one. */
  readonly wantsState: boolean
}

/** Whether the answer needs nothing but the hub. */
export const isPlain = ({ since, wantsState }: ChannelRequest): boolean => typeof since !== 'number' && !wantsState

/** The requests of a frame, in its order; `accepts` says whether positions of a ledger mean the same now. */
export function requestsIn(
  { i, ch, since, ledger, state = false, chs }: SubFrame,
  accepts: (ledger: string | undefined) => boolean,
): readonly ChannelRequest[] {
  const members = chs ?? [{ ch, since, state }]
  const positionOf = (text: string): number | 'lost' => (accepts(ledger) ? Number(text) : 'lost')
  return members.map((member) => ({
    i,
    ch: member.ch,
    since: member.since === undefined ? null : positionOf(member.since),
    wantsState: member.state ?? state,
  }))
}

/** A room as its route answers it, as of a position of the ledger. */
export interface RoomState {
  readonly position: number
  readonly room: RoomResource
}

/** Reads rooms by id in one statement, so that each is as of its position. Unknown rooms are missing. */
export type FindRoomStates = (db: Kysely<Tables>, roomIds: readonly number[]) => Promise<ReadonlyMap<number, RoomState>>

/** As many as one frame may ask for. */
const MAX_ROOMS_PER_QUERY = 50

/** Looks up the states of rooms; those that are asked for together share one statement. Null for an unknown room. */
export const roomStateLookup = (db: Kysely<Tables>, findStates: FindRoomStates) =>
  new BatchedLookup(
    MAX_ROOMS_PER_QUERY,
    async (ids: readonly number[]) => {
      const found = await findStates(db, [...new Set(ids)])
      return ids.map((id) => found.get(id) ?? null)
    },
    SOCKET_LIMITS,
  )
