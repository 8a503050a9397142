import { plainSeconds } from '../../ledger/rules/time.ts'
import { eventFrame, type FrameMapper } from '../../realtime/frames/frame-mapper.ts'
import { type Profiles, userProfile } from '../../realtime/frames/profiles.ts'
import { rot41 } from './rot41.ts'

/** Diamonds won by one order, from which the room is notified, and from which everyone is. */
const MIN_BIG_WIN = 5_000
const MIN_GLOBAL_BIG_WIN = 10_000

/** Frames of drawn gifts, to the room and to everyone. They never contain a balance. */
export const giftFrames: FrameMapper = {
  'gift-drawn': ({ data, position, at }) => {
    const { sender_id, room_id, decoration_id } = data
    const path = data.encrypted ? rot41 : (plain: string) => plain
    const enc = data.encrypted ? { enc: 'rot41' as const } : {}
    const win = data.draws.reduce((sum, { reward }) => sum + reward, 0)
    const gift = (profiles: Profiles) => {
      const { name = '', image_path = '' } = profiles.decorations.get(decoration_id) ?? {}
      return { id: decoration_id, name, image_path: path(image_path) }
    }

    const sent = eventFrame(
      `room:${room_id}`,
      'one-to-room:lucky-gift-sent',
      { rooms: [room_id], decorations: [decoration_id] },
      (profiles) => ({
        id: String(position),
        totalcost: data.cost,
        gift: gift(profiles),
        times: data.times,
        senderid: sender_id,
        receiversids: data.receiver_ids.map(String),
        currencycount: data.won,
        quantity: data.quantity,
        roomuid: profiles.rooms.get(room_id)?.uid ?? '',
        win,
        last_update: plainSeconds(at),
      }),
    )
    const requiredIds = { users: [sender_id], decorations: [decoration_id] }
    const won = (reward: number) => (profiles: Profiles) => {
      const { id, name, uid, picture } = userProfile(profiles, sender_id)
      return { user: { id, name, uid, current_profile_image_url: path(picture) }, reward, decoration: gift(profiles) }
    }
    const wins = data.draws.flatMap(({ reward }) => [
      ...(reward >= MIN_BIG_WIN ? [eventFrame(`room:${room_id}`, 'lucky-big-win', requiredIds, won(reward))] : []),
      ...(reward >= MIN_GLOBAL_BIG_WIN ? [eventFrame('global', 'lucky-big-win-all', requiredIds, won(reward))] : []),
    ])
    return [sent, ...wins].map((frame) => ({ ...frame, ...enc }))
  },
}
