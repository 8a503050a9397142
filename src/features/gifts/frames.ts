import type { EventData } from '../../../schema/events.ts'
import { plainSeconds } from '../../ledger/rules/time.ts'
import { eventFrame, type FrameMapper, type Profiles, userProfile } from '../../realtime/frames/frame-mapper.ts'

/** Frames of gifts, to the room and, of big wins, to everyone. They never contain a balance. */
export const giftFrames: FrameMapper = {
  'gift-sent': ({ data, position, at }) => {
    const { room_id } = data
    const sent = eventFrame(`room:${room_id}`, 'one-to-room:gift-sent', sendIds(data), (profiles) => ({
      id: String(position),
      totalcost: data.cost,
      gift: pictureOf(data, profiles),
      senderid: data.sender_id,
      receiversids: data.receiver_ids.map(String),
      quantity: data.quantity,
      roomuid: profiles.rooms.get(room_id)?.uid ?? '',
      last_update: plainSeconds(at),
    }))
    return [{ ...sent, ...encoding(data) }]
  },
  'gift-drawn': ({ data, position, at }) => {
    // A threshold that no order reached is absent.
    const { sender_id, room_id, decoration_id, big_win_room = Infinity, big_win_all = Infinity } = data
    const win = data.draws.reduce((sum, { reward }) => sum + reward, 0)
    const sent = eventFrame(`room:${room_id}`, 'one-to-room:lucky-gift-sent', sendIds(data), (profiles) => ({
      id: String(position),
      totalcost: data.cost,
      gift: pictureOf(data, profiles),
      times: data.times,
      senderid: sender_id,
      receiversids: data.receiver_ids.map(String),
      currencycount: data.won,
      quantity: data.quantity,
      roomuid: profiles.rooms.get(room_id)?.uid ?? '',
      win,
      last_update: plainSeconds(at),
    }))
    const requiredIds = { users: [sender_id], decorations: [decoration_id] }
    const won = (reward: number) => (profiles: Profiles) => {
      const { id, name, uid, picture } = userProfile(profiles, sender_id)
      const user = { id, name, uid, current_profile_image_url: pathOf(data, picture) }
      return { user, reward, decoration: pictureOf(data, profiles) }
    }
    const wins = data.draws.flatMap(({ reward }) => [
      ...(reward >= big_win_room ? [eventFrame(`room:${room_id}`, 'lucky-big-win', requiredIds, won(reward))] : []),
      ...(reward >= big_win_all ? [eventFrame('global', 'lucky-big-win-all', requiredIds, won(reward))] : []),
    ])
    return [sent, ...wins].map((frame) => ({ ...frame, ...encoding(data) }))
  },
}

type Gift = EventData<'gift-sent'>

/** Whose profiles the frame of a send shows. */
const sendIds = ({ room_id, decoration_id }: Gift) => ({ rooms: [room_id], decorations: [decoration_id] })

const encoding = ({ encrypted }: Gift) => (encrypted ? { enc: 'rot41' as const } : {})

/** A path of a picture or video, encoded when the sender asked for it. */
const pathOf = ({ encrypted }: Gift, path: string): string => (encrypted ? rot41(path) : path)

function pictureOf(data: Gift, profiles: Profiles) {
  const { name = '', image_path = '', video_path = null } = profiles.decorations.get(data.decoration_id) ?? {}
  const video = video_path === null ? {} : { video_path: pathOf(data, video_path) }
  return { id: data.decoration_id, name, image_path: pathOf(data, image_path), ...video }
}

const FIRST = 33 // !
const COUNT = 94 // up to ~
const PLACES = 41

/** Shifts each character from `!` to `~` 41 places forward, wrapping around; other characters stay. */
export const rot41 = (text: string): string =>
  text.replace(/[!-~]/g, (character) =>
    String.fromCharCode(((character.charCodeAt(0) - FIRST + PLACES) % COUNT) + FIRST),
  )
