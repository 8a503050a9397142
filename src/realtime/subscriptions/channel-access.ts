import type { LocalizedText } from '../../../schema/languages.ts'
import { type ChannelKey, parseChannelName, roomChannel, userChannel } from '../channels/channel-names.ts'
import { socketMessages } from '../messages.ts'

/** The id of the room with this uid if the user is a member of it, else null. */
export type MemberRoom = (uid: string, userId: number) => Promise<number | null>

/** Why a user may not have a channel. */
export interface AccessRefusal {
  readonly code: string
  readonly message: LocalizedText
}

/** The channel that a user means by a name, if the user may subscribe to it. */
export async function accessChannel(
  name: string,
  userId: number,
  memberRoom: MemberRoom,
): Promise<ChannelKey | AccessRefusal> {
  const channel = parseChannelName(name)
  switch (channel?.kind) {
    case undefined:
      return { code: 'unknown_channel', message: socketMessages.unknown_channel }
    case 'global':
      return 'global'
    case 'user': {
      const own = userChannel(userId)
      if (name === own) return own
      return { code: 'forbidden', message: socketMessages.forbidden }
    }
    case 'room': {
      const roomId = await memberRoom(channel.uid, userId)
      if (roomId !== null) return roomChannel(roomId)
      return { code: 'not_room_member', message: socketMessages.not_room_member }
    }
  }
}
