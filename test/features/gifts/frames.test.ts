import { test } from 'tap'
import type { EventData } from '../../../schema/events.ts'
import { giftFrames, rot41 } from '../../../src/features/gifts/frames.ts'
import type { PositionedEvent } from '../../../src/ledger/rules/event.ts'
import { FIXED_NOW } from '../../harness/ledger/given-when.ts'
import { framesFrom } from '../../realtime/frame-fixtures.ts'
import { drawnGift } from './drawn-gift.ts'

const drawn = (
  rewards: readonly number[],
  others: Partial<EventData<'gift-drawn'>> = {},
): PositionedEvent<'gift-drawn'> => ({
  type: 'gift-drawn',
  data: {
    ...drawnGift,
    receiver_ids: rewards.map((_, i) => i + 2),
    cost: 500 * rewards.length,
    draws: rewards.map((reward) => ({ r: 0, reward })),
    ...others,
  },
  movements: [],
  position: 40,
  at: FIXED_NOW,
})

const thresholds = { big_win_room: 5_000, big_win_all: 10_000 }
const user = { id: 1, name: 'Amina', uid: 'amina', current_profile_image_url: 'http://assets.test/avatars/1.png' }
const decoration = { id: 3, name: 'Clover', image_path: 'gifts/clover.png' }

test('a frame of a drawn send with its streak goes to the room', async (t) => {
  t.same(framesFrom(giftFrames, drawn([0, 700])), [
    {
      channel: 'room:7',
      event: 'one-to-room:lucky-gift-sent',
      data: {
        id: '40',
        totalcost: 1_000,
        gift: decoration,
        times: 2,
        senderid: 1,
        receiversids: ['2', '3'],
        currencycount: 12_345,
        quantity: 5,
        roomuid: 'R7',
        win: 700,
        last_update: '2026-11-21 08:00:00',
      },
    },
  ])
  const [bagged] = framesFrom(giftFrames, drawn([0], { from_bag: true, cost: 0 }))
  t.match(bagged?.data, { totalcost: 0, win: 0 })
})

test('big wins are sent per order: to the room and to everyone from the thresholds of the event', async (t) => {
  const others = { big_win_room: 3_000, big_win_all: 7_000 }
  const rows: readonly (readonly [
    rewards: number[],
    reached: Partial<typeof thresholds>,
    tolds: (readonly [string, string, number])[],
  ])[] = [
    [[20_000], {}, []],
    [[3_000, 2_999], { big_win_room: 3_000 }, [['room:7', 'lucky-big-win', 3_000]]],
    [[20_000], { big_win_room: 20_000 }, [['room:7', 'lucky-big-win', 20_000]]],
    [
      [7_000, 6_999],
      others,
      [
        ['room:7', 'lucky-big-win', 7_000],
        ['global', 'lucky-big-win-all', 7_000],
        ['room:7', 'lucky-big-win', 6_999],
      ],
    ],
    [
      [20_000, 0, 6_000],
      thresholds,
      [
        ['room:7', 'lucky-big-win', 20_000],
        ['global', 'lucky-big-win-all', 20_000],
        ['room:7', 'lucky-big-win', 6_000],
      ],
    ],
  ]
  for (const [rewards, reached, tolds] of rows) {
    const [sent, ...wins] = framesFrom(giftFrames, drawn(rewards, reached))
    t.equal(sent?.event, 'one-to-room:lucky-gift-sent')
    t.same(
      wins,
      tolds.map(([channel, event, reward]) => ({ channel, event, data: { user, reward, decoration } })),
      rewards.join(),
    )
  }
})

test('an encrypted send encodes every path with rot41 and marks every frame', async (t) => {
  const frames = framesFrom(giftFrames, drawn([10_000], { ...thresholds, encrypted: true }))
  t.equal(frames.length, 3)
  for (const { enc } of frames) t.equal(enc, 'rot41')
  const [sent, ...wins] = frames
  t.match(sent?.data, { gift: { name: 'Clover', image_path: rot41('gifts/clover.png') }, roomuid: 'R7' })
  for (const { data } of wins) {
    t.match(data, {
      user: { name: 'Amina', uid: 'amina', current_profile_image_url: rot41('http://assets.test/avatars/1.png') },
      decoration: { image_path: rot41('gifts/clover.png') },
    })
  }
})

test('the video of a gift is in its frames, where it has one', async (t) => {
  t.notOk(JSON.stringify(framesFrom(giftFrames, drawn([10_000], thresholds))).includes('video_path'))
  for (const encrypted of [false, true]) {
    const path = encrypted ? rot41('gifts/comet.mp4') : 'gifts/comet.mp4'
    const [sent, ...wins] = framesFrom(giftFrames, drawn([10_000], { ...thresholds, encrypted, decoration_id: 4 }))
    t.match(sent?.data, { gift: { video_path: path } })
    t.equal(wins.length, 2)
    for (const { data } of wins) t.match(data, { decoration: { video_path: path } })
  }
})

test('rot41 shifts printable characters by 41 places and can be reversed', async (t) => {
  const back = (text: string) =>
    text.replace(/[!-~]/g, (one) => String.fromCharCode(((one.charCodeAt(0) - 33 - 41 + 94) % 94) + 33))
  t.equal(rot41('!'), 'J')
  t.equal(rot41('U'), '~')
  t.equal(rot41('V'), '!')
  t.equal(rot41('~'), 'I')
  t.equal(rot41('a b\té\u{1F381}\u007f'), `, -\té\u{1F381}\u007f`)
  for (const text of ['rooms/7/gift.png', 'http://127.0.0.1:3000/assets/a%20b~!.png', 'هدية/قلب.webp', '']) {
    t.equal(back(rot41(text)), text)
    t.equal(rot41(text) === text, text === '')
  }
})

test('erased users and gifts keep their ids in frames', async (t) => {
  const frames = framesFrom(
    giftFrames,
    drawn([10_000], { ...thresholds, sender_id: 99, room_id: 98, decoration_id: 97 }),
  )
  t.match(frames[0]?.data, { roomuid: '', gift: { id: 97, name: '', image_path: '' }, senderid: 99 })
  t.match(frames[1]?.data, { user: { id: 99, name: '', uid: '', current_profile_image_url: '' } })
})

test('a frame of a gift without draws goes to the room, encoded as the sender asked', async (t) => {
  const sent = (others: Partial<EventData<'gift-sent'>> = {}): PositionedEvent<'gift-sent'> => {
    const { data, at } = drawn([0, 0])
    return { type: 'gift-sent', data: { ...data, ...others }, movements: [], position: 41, at }
  }
  const data = {
    id: '41',
    totalcost: 1_000,
    gift: decoration,
    senderid: 1,
    receiversids: ['2', '3'],
    quantity: 5,
    roomuid: 'R7',
    last_update: '2026-11-21 08:00:00',
  }
  t.same(framesFrom(giftFrames, sent()), [{ channel: 'room:7', event: 'one-to-room:gift-sent', data }])
  t.same(framesFrom(giftFrames, sent({ encrypted: true, from_bag: true, cost: 0 })), [
    {
      channel: 'room:7',
      event: 'one-to-room:gift-sent',
      enc: 'rot41',
      data: { ...data, totalcost: 0, gift: { ...decoration, image_path: rot41(decoration.image_path) } },
    },
  ])
  t.match(framesFrom(giftFrames, sent({ room_id: 98, decoration_id: 97 })), [
    { data: { roomuid: '', gift: { id: 97, name: '', image_path: '' } } },
  ])
})
