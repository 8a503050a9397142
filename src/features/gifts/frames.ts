import { plainSeconds } from '../../ledger/rules/time.ts'
import { eventFrame, type FrameMapper } from '../../realtime/frames/frame-mapper.ts'
import { type Profiles, userProfile } from '../../realtime/frames/profiles.ts'
import { rot41 } from './rot41.ts'

/** Diamonds won by one order of which the room is told, and of which everyone is. */
const MIN_BIG_WIN = 5_000
const MIN_GLOBAL_BIG_WIN = 10_000

/** What rooms, and everyone, are told of gifts with a draw. No one's balance is. */
export const giftFrames: FrameMapper = {
  'gift-drawn': ({ data, position, at }) => {
    const { sender_id, room_id, decoration_id } = data
    const path = data.encrypted ? rot41 : (plain: string) => plain
    const enc = data.encrypted ? { enc: 'rot41' as const } : {}
    const win = data.draws.reduce((sum, { reward }) => sum + reward, 0)
    const gift = (words: Profiles) => {
      const { name = '', image_path = '' } = words.decorations.get(decoration_id) ?? {}
      return { id: decoration_id, name, image_path: path(image_path) }
    }

    const sent = eventFrame(
      `room:${room_id}`,
      'one-to-room:lucky-gift-sent',
      { rooms: [room_id], decorations: [decoration_id] },
      (words) => ({
        id: String(position),
        totalcost: data.cost,
        gift: gift(words),
        times: data.times,
        senderid: sender_id,
        receiversids: data.receiver_ids.map(String),
        currencycount: data.won,
        quantity: data.quantity,
        roomuid: words.rooms.get(room_id)?.uid ?? '',
        win,
        last_update: plainSeconds(at),
      }),
    )
    const requiredIds = { users: [sender_id], decorations: [decoration_id] }
    const won = (reward: number) => (words: Profiles) => {
      const { id, name, uid, picture } = userProfile(words, sender_id)
      return { user: { id, name, uid, current_profile_image_url: path(picture) }, reward, decoration: gift(words) }
    }
    const wins = data.draws.flatMap(({ reward }) => [
      ...(reward >= MIN_BIG_WIN ? [eventFrame(`room:${room_id}`, 'lucky-big-win', requiredIds, won(reward))] : []),
      ...(reward >= MIN_GLOBAL_BIG_WIN ? [eventFrame('global', 'lucky-big-win-all', requiredIds, won(reward))] : []),
    ])
    return [sent, ...wins].map((announcement) => ({ ...announcement, ...enc }))
  },
}
