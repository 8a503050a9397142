import type { FrameErrorCode } from '../../../schema/frames.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import { type ChannelKey, parseChannelName, roomChannel, userChannel } from '../channels/channel-names.ts'
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
