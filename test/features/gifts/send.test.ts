import { test } from 'tap'
import { MAX_INTEGER } from '../../../schema/common.ts'
import type { GiftKind, OddsRow } from '../../../schema/events.ts'
import { CHAIN_LENGTH } from '../../../src/features/fairness/algorithms.ts'
import { chooseSeed, evolveLuckyChains, showChains } from '../../../src/features/fairness/lucky-chains.ts'
import { evolveBags } from '../../../src/features/gifts/bag.ts'
import { evolveDecorations } from '../../../src/features/gifts/decoration.ts'
import { MULTIPLIER_UNIT, oddsHash } from '../../../src/features/gifts/odds.ts'
import { sendResult } from '../../../src/features/gifts/presenters.ts'
import { evolveStreaks, type SendGift, sendGift } from '../../../src/features/gifts/send.ts'
import { evolveRooms, roomUids } from '../../../src/features/rooms/room.ts'
import { evolveUsers } from '../../../src/features/users/user.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'
import { credited, roomDefined, userDefined } from '../../harness/ledger/event-fixtures.ts'
import {
  beginIncarnation,
  FIXED_NOW,
  type GivenWhen,
  givenWhen,
  OTHER_INCARNATION,
  testIncarnation,
} from '../../harness/ledger/given-when.ts'
import { testChains } from '../../harness/ledger/test-executor.ts'

const gift = (id: number, kind: GiftKind, price: number, odds: OddsRow[] = []): LedgerEvent<'decoration-defined'> => ({
  type: 'decoration-defined',
  data: {
    decoration_id: id,
    name: `gift ${id}`,
    kind,
    price,
    image_path: '',
    video_path: null,
    odds,
    odds_hash: odds.length === 0 ? null : oddsHash(id, odds),
  },
  movements: [],
})

const addedToBag = (user_id: number, decoration_id: number, quantity: number): LedgerEvent<'bag-items-added'> => ({
  type: 'bag-items-added',
  data: { user_id, decoration_id, quantity, reason: 'test' },
  movements: [],
})

const [STANDARD, LUCKY, RETURNABLE, PLAIN_RETURNABLE, EXPENSIVE] = [1, 2, 3, 4, 5] as const
const OWNER = 9
/** Pays one and a half times the stake, always. */
const certain = [{ multiplier: 15_000, weight: 1 }]

/** Users 1 to 4, room 1 (uid R1) of user 9, five gifts, and user 1 with 10,000 diamonds. */
function giftRules(): GivenWhen {
  const ledger = givenWhen(evolveUsers, evolveRooms, evolveDecorations, evolveBags, evolveStreaks, evolveLuckyChains)
  ledger.given(
    ...[1, 2, 3, 4, OWNER].map((id) => userDefined(id)),
    roomDefined(1, OWNER),
    roomDefined(2, 1),
    gift(STANDARD, 'standard', 33),
    gift(LUCKY, 'lucky', 33, certain),
    gift(RETURNABLE, 'returnable', 33, certain),
    gift(PLAIN_RETURNABLE, 'returnable', 33),
    gift(EXPENSIVE, 'standard', MAX_INTEGER),
    credited('user', 1, 'diamonds', 10_000),
  )
  ledger.state.set(roomUids, 'R1', { uid: 'R1', room_id: 1 })
  return ledger
}

const verb = sendGift({ chains: testChains, ownerPercent: 0 })
const request: SendGift = {
  caller_id: 1,
  sender_id: 1,
  decoration_id: STANDARD,
  receiver_ids: [2, 3],
  quantity: 2,
  room: 1,
  from_bag: false,
  encrypted: false,
}

const movementLines = (event: LedgerEvent | undefined) =>
  event?.movements.map(({ debit, credit, amount }) => `${debit} > ${credit} ${amount}`)

test('refusals, in the order of precedence', async (t) => {
  const validation = (errors: object) => ({ refusal: 'validation_failed', errors })
  const [noGift, noRoom] = [['There is no such gift.'], ['There is no such room.']]
  const sender = 'The sender cannot be a receiver.'
  const all = { decoration_id: noGift, user_id: [sender, 'There is no user 98.'], room_id: noRoom }
  const short = (name: string) => ({ refusal: `insufficient_${name}` })
  const full = { refusal: 'balance_limit' }
  const [bag, dear] = [{ from_bag: true }, { decoration_id: EXPENSIVE }]
  // A row of several faults is refused for the first of them.
  const rows: readonly (readonly [string, Partial<SendGift>, object, ...given: LedgerEvent[]])[] = [
    ['another one’s money', { sender_id: 2, decoration_id: 99, room: 99 }, { refusal: 'not_the_sender' }],
    ['unknown gift, receiver and room', { decoration_id: 99, room: 99, receiver_ids: [1, 98] }, validation(all)],
    ['an unknown gift', { decoration_id: 99 }, validation({ decoration_id: noGift })],
    ['to oneself', { receiver_ids: [2, 1] }, validation({ user_id: [sender] })],
    ['an unknown uid', { room: 'nowhere' }, validation({ room_id: noRoom })],
    ['an empty bag', { ...bag, ...dear }, short('items')],
    ['one item short', bag, short('items'), addedToBag(1, STANDARD, 3)],
    ['a cost beyond the largest balance', dear, short('balance')],
    ['one diamond short', { quantity: 152 }, short('balance')],
    ['a value beyond what anyone can hold', { ...bag, ...dear }, full, addedToBag(1, EXPENSIVE, 4)],
    ['a receiver at the largest balance', {}, full, credited('user', 3, 'target', MAX_INTEGER - 65)],
    ['a room at the largest balance', {}, full, credited('room', 1, 'target', MAX_INTEGER - 2)],
  ]
  for (const [name, change, refusal, ...given] of rows) {
    const ledger = giftRules()
    ledger.given(...given)
    t.match(ledger.when(verb, { ...request, ...change }), { events: [], refusal }, name)
  }
})

test('a refusal for the balance limit does not depend on the draw', async (t) => {
  // One draw in two wins ten times the stake; the refusals must not reveal which.
  const RARE = 6
  const odds = [
    { multiplier: 0, weight: 1 },
    { multiplier: 100_000, weight: 1 },
  ]
  const rewards = new Set<number | undefined>()
  for (let seed = 0; seed < 12; seed += 1) {
    const near = (below: number) => {
      const ledger = giftRules()
      ledger.given(
        gift(RARE, 'lucky', 10, odds),
        userDefined(100 + seed),
        credited('user', 100 + seed, 'diamonds', MAX_INTEGER - below),
      )
      const person = { caller_id: 100 + seed, sender_id: 100 + seed, decoration_id: RARE, quantity: 1 }
      return ledger.when(verb, { ...request, ...person })
    }
    t.match(near(179), { events: [], refusal: { refusal: 'balance_limit' } }, `user ${100 + seed}`)
    const { answer, refusal } = near(180)
    t.equal(refusal, undefined, 'a send whose highest reward fits is drawn')
    for (const { reward } of answer?.orders ?? []) rewards.add(reward)
  }
  t.same(rewards, new Set([0, 100]), 'some win and some do not')
})

test('a standard gift gives all to the receivers, and 3% and trophy points to the room', async (t) => {
  const { events, answer } = giftRules().when(verb, request)
  t.equal(events.length, 1)
  t.match(events[0], {
    type: 'gift-sent',
    data: { cost: 132, trophy_points: 132, receiver_percent: 100, room_percent: 3, owner_percent: 0 },
  })
  t.same(movementLines(events[0]), [
    'user:1:diamonds > house:gifts:diamonds 132',
    'issuance:gifts:target > user:2:target 66',
    'issuance:gifts:target > user:3:target 66',
    'issuance:gifts:target > room:1:target 3',
  ])
  t.match(answer && sendResult(answer), {
    data: { lucky_result: { code: 1, data: { gift_id: STANDARD, OrderList: [{ is_win: 0, reward_num: 0 }] } } },
  })
  t.match(answer, { diamonds: 9_868, drawn: false, decoration_id: STANDARD, price: 33 })
  t.same(
    answer?.orders.map(({ reward }) => reward),
    [0, 0],
  )
})

test('a room can be named by its uid', async (t) => {
  const paying = sendGift({ chains: testChains, ownerPercent: 5 })
  for (const decoration_id of [STANDARD, LUCKY]) {
    const byId = giftRules().when(paying, { ...request, decoration_id })
    const byUid = giftRules().when(paying, { ...request, decoration_id, room: 'R1' })
    t.same([byUid.events, byUid.answer], [byId.events, byId.answer])
  }
})

test('the room’s owner gets a commission on standard gifts, not on the owner’s own', async (t) => {
  const paying = sendGift({ chains: testChains, ownerPercent: 5 })
  const lines = (change: Partial<SendGift>) =>
    movementLines(
      giftRules()
        .when(paying, { ...request, ...change })
        .events.at(-1),
    ) ?? []
  t.equal(lines({}).at(-1), `issuance:gifts:target > user:${OWNER}:target 6`)
  t.equal(lines({ room: 2 }).at(-1), 'issuance:gifts:target > room:2:target 3')
  t.equal(lines({ decoration_id: LUCKY }).length, 4)
})

for (const decoration_id of [LUCKY, RETURNABLE]) {
  test(`gift ${decoration_id}: drawn and paid at once, 10% to the receivers, nothing to the room`, async (t) => {
    const { events, answer } = giftRules().when(verb, { ...request, decoration_id })
    t.same(
      events.map(({ type }) => type),
      ['lucky-chain-opened', 'gift-drawn'],
    )
    t.same(movementLines(events[1]), [
      'user:1:diamonds > house:gifts:diamonds 132',
      'house:gifts:diamonds > user:1:diamonds 198',
      'issuance:gifts:target > user:2:target 6',
      'issuance:gifts:target > user:3:target 6',
    ])
    t.match(events[1], {
      data: { chain: '1-1', k: 1, client_seed: '1', times: 1, won: 198, trophy_points: 0, cost: 132 },
    })
    const position = events[1]?.position
    t.same(answer && sendResult(answer).data, {
      diamonds: 10_066,
      lucky_result: {
        code: 0,
        data: {
          gift_id: decoration_id,
          gift_price: 33,
          OrderList: [
            { order_id: `${position}-0`, is_win: 1, reward_num: 99 },
            { order_id: `${position}-1`, is_win: 1, reward_num: 99 },
          ],
        },
      },
    })
  })
}

test('a draw names each threshold of big wins that one of its orders reaches', async (t) => {
  const JACKPOT = 6
  const rows: readonly (readonly [reward: number, room?: number, all?: number])[] = [
    [4_999],
    [5_000, 5_000],
    [9_999, 5_000],
    [10_000, 5_000, 10_000],
  ]
  for (const [reward, room, all] of rows) {
    const ledger = giftRules()
    ledger.given(gift(JACKPOT, 'lucky', 1, [{ multiplier: reward * MULTIPLIER_UNIT, weight: 1 }]))
    const draw = ledger.when(verb, { ...request, decoration_id: JACKPOT, quantity: 1 }).events.at(-1)
    if (draw?.type !== 'gift-drawn') throw new Error('nothing was drawn')
    const { draws, big_win_room, big_win_all } = draw.data
    t.match(draws, [{ reward }, { reward }])
    t.same([big_win_room, big_win_all], [room, all], `${reward} diamonds`)
  }
})

test('a returnable gift without odds is not drawn', async (t) => {
  const { events, answer } = giftRules().when(verb, { ...request, decoration_id: PLAIN_RETURNABLE })
  t.equal(events[0]?.type, 'gift-sent')
  t.equal(answer?.drawn, false)
  t.equal(movementLines(events[0])?.length, 3)
})

test('a gift from the bag costs items instead of diamonds, all else is the same', async (t) => {
  const ledger = giftRules()
  ledger.given(addedToBag(1, STANDARD, 5), addedToBag(1, LUCKY, 4))
  const standard = ledger.when(verb, { ...request, from_bag: true })
  t.match(standard.events[0], { data: { cost: 0, from_bag: true, trophy_points: 132 } })
  t.equal(movementLines(standard.events[0])?.[0], 'issuance:gifts:target > user:2:target 66')
  t.equal(standard.answer?.diamonds, 10_000)
  const lucky = ledger.when(verb, { ...request, decoration_id: LUCKY, from_bag: true })
  t.equal(movementLines(lucky.events[1])?.[0], 'house:gifts:diamonds > user:1:diamonds 198')
  t.match(ledger.when(verb, { ...request, from_bag: true }).refusal, { refusal: 'insufficient_items' }, '1 is left')
  t.match(ledger.when(verb, { ...request, from_bag: true, quantity: 1, receiver_ids: [2] }).events.length, 1)
})

test('consecutive sends are counted by sender, room and gift, and start again after 6 seconds', async (t) => {
  const ledger = giftRules()
  ledger.given(credited('user', 2, 'diamonds', 1_000))
  const second = 1_000_000
  const one = { ...request, receiver_ids: [3], quantity: 1, decoration_id: LUCKY }
  const rows: readonly (readonly [number, Partial<SendGift>, number, number])[] = [
    [0, {}, 1, 49],
    [5.999999, {}, 2, 98],
    [5.999999, { decoration_id: RETURNABLE }, 1, 49],
    [5.999999, { room: 2 }, 1, 49],
    [5.999999, { caller_id: 2, sender_id: 2 }, 1, 49],
    [11.999998, {}, 3, 147],
    [17.999998, {}, 1, 49],
    [18, {}, 2, 98],
  ]
  for (const [at, change, times, won] of rows) {
    const { events } = ledger.when(verb, { ...one, ...change }, { now: FIXED_NOW + at * second })
    t.match(events.at(-1), { data: { times, won } }, `at ${at} s`)
  }
})

test('a chain that is used up is followed by the next one, with the same seed', async (t) => {
  const ledger = giftRules()
  ledger.given(credited('user', 1, 'diamonds', 1_000_000))
  const one = { ...request, receiver_ids: [3], quantity: 1, decoration_id: LUCKY }
  const first = ledger.when(verb, one).events
  for (let k = 2; k <= CHAIN_LENGTH; k += 1) {
    const { events } = ledger.when(verb, one)
    if (events.length !== 1) t.fail(`send ${k} opened a chain`)
  }
  const next = ledger.when(verb, one).events
  t.match(next, [
    { type: 'lucky-chain-opened', data: { chain: '1-2', client_seed: '1' } },
    { type: 'gift-drawn', data: { chain: '1-2', k: 1 } },
  ])
  const [opened, following] = [first[0], next[0]]
  const committed = opened?.type === 'lucky-chain-opened' ? opened.data.next_commitment : undefined
  t.match(following, { data: { commitment: committed } }, 'it was committed to one chain ahead')
  t.match([first[1], next[1]], [{ data: { announced: false } }, { data: { announced: true } }])
})

const lucky = { ...request, receiver_ids: [3], quantity: 1, decoration_id: LUCKY }

/** The draw that a lucky send of user 1 makes. */
function drawn(ledger: GivenWhen) {
  const draw = ledger.when(verb, lucky).events.at(-1)
  if (draw?.type !== 'gift-drawn') throw new Error('nothing was drawn')
  return draw.data
}

test('a send is announced when the commitment of its chain was on the ledger before', async (t) => {
  const show = (ledger: GivenWhen) => ledger.when(showChains(testChains), { user_id: 1 })
  const choose = (ledger: GivenWhen) => ledger.when(chooseSeed(testChains), { user_id: 1, client_seed: 'mine' })
  for (const before of [show, choose]) {
    const ledger = giftRules()
    before(ledger)
    t.match(drawn(ledger), { k: 1, announced: true }, before.name)
  }
  const ledger = giftRules()
  t.match(
    [drawn(ledger), drawn(ledger)],
    [
      { k: 1, announced: false },
      { k: 2, announced: true },
    ],
  )
  beginIncarnation(ledger.state, OTHER_INCARNATION)
  t.match(
    [drawn(ledger), drawn(ledger)],
    [
      { k: 1, announced: false },
      { k: 2, announced: true },
    ],
  )
  beginIncarnation(ledger.state, testIncarnation)
  show(ledger)
  t.match(drawn(ledger), { k: 1, announced: true })
})

test('a chain of an earlier incarnation draws nothing, and the next number is above all that the ledger names', async (t) => {
  const ledger = giftRules()
  ledger.when(chooseSeed(testChains), { user_id: 1, client_seed: 'mine' })
  t.match(drawn(ledger), { incarnation: testIncarnation, chain: '1-2', k: 1, client_seed: 'mine' })
  beginIncarnation(ledger.state, OTHER_INCARNATION)
  const { events } = ledger.when(verb, lucky)
  const opened = { incarnation: OTHER_INCARNATION, chain: '1-4', client_seed: 'mine', number: 4, next_chain: '1-5' }
  t.match(events, [
    { type: 'lucky-chain-opened', data: opened },
    { type: 'gift-drawn', data: { incarnation: OTHER_INCARNATION, chain: '1-4', k: 1, client_seed: 'mine' } },
  ])
  const chosen = ledger.when(chooseSeed(testChains), { user_id: 1, client_seed: 'other' })
  t.match(chosen.answer, { incarnation: OTHER_INCARNATION, chain: '1-5', next: '1-6', client_seed: 'other' })
  beginIncarnation(ledger.state, testIncarnation)
  const both = ledger.when(chooseSeed(testChains), { user_id: 1, client_seed: 'third' })
  t.match(both.events, [
    { data: { chain: '1-7', client_seed: 'other' } },
    { data: { chain: '1-8', client_seed: 'third' } },
  ])
})
