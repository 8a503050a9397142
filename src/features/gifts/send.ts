import { MAX_INTEGER } from '../../../schema/common.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import { fieldMessages } from '../../language/messages.ts'
import { account, balanceOf, balances, transferError, transfers } from '../../ledger/rules/account.ts'
import type { Evolver, PositionedEvent } from '../../ledger/rules/event.ts'
import { percentOf, product } from '../../ledger/rules/money.ts'
import { integer, type Key, keyOf, micros, projection, type RowOf, type State } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import type { LuckyChains } from '../fairness/algorithms.ts'
import { luckyKeys } from '../fairness/lucky-chains.ts'
import { dependentRoomRefKeys, type RoomRef, resolveRoomRef, roomRefKeys, rooms } from '../rooms/room.ts'
import { users } from '../users/user.ts'
import { bagCounts, bagItemKey, bagItems, bagTotals, quantityInBag } from './bag.ts'
import { decorations, sharesOf } from './decoration.ts'
import { giftMessages } from './messages.ts'
import { drawOrders, maxTotalReward } from './odds.ts'

export interface SendGift {
  /** The authenticated user. */
  readonly caller_id: number
  /** The sender as named in the request. */
  readonly sender_id: number
  readonly decoration_id: number
  /** 1 to 100 distinct users. */
  readonly receiver_ids: readonly number[]
  /** 1 to 9,999 for each receiver. */
  readonly quantity: number
  readonly room: RoomRef
  readonly from_bag: boolean
  readonly encrypted: boolean
}

export interface SentGift {
  /** The sender's balance after the rewards. */
  readonly diamonds: number
  readonly decoration_id: number
  readonly price: number
  /** Whether the orders were drawn. */
  readonly drawn: boolean
  /** One for each receiver, in their order. */
  readonly orders: readonly { readonly order_id: string; readonly reward: number }[]
}

/** Configuration of sending. */
interface GiftSettings {
  readonly chains: LuckyChains
  /** The room owner's commission on standard gifts, in per cent. */
  readonly ownerPercent: number
}

const HOUSE = account('house', 'gifts', 'diamonds')
const ISSUANCE = account('issuance', 'gifts', 'target')

/** Diamonds won by one order, from which the room is notified, and from which everyone is. */
const BIG_WIN_ROOM = 5_000
const BIG_WIN_ALL = 10_000

const refusals = [
  'not_the_sender',
  'validation_failed',
  'insufficient_items',
  'insufficient_balance',
  'balance_limit',
] as const

/**
 * Sends a gift to one or more receivers; a gift with odds is drawn once per order and its rewards, in diamonds, are paid
 * at once. Refusals, in this order: `not_the_sender`; `validation_failed` (gift, receivers, room); `insufficient_items` or
 * `insufficient_balance`; `balance_limit`, also when only the highest possible rewards would exceed a balance.
 */
export function sendGift(settings: GiftSettings): Verb<SendGift, SentGift, typeof refusals> {
  return {
    refusals,
    reads: (input) => reads(input),
    dependentReads: (state, input) => dependentKeys(state, input, settings),
    decide: (state, input, { now }) => {
      if (input.sender_id !== input.caller_id) return refuse('not_the_sender')

      const decoration = state.get(decorations, String(input.decoration_id))
      const roomId = resolveRoomRef(state, input.room)
      const room = roomId === undefined ? undefined : state.get(rooms, String(roomId))
      const errors = {
        ...(decoration === undefined && { decoration_id: [giftMessages.no_gift] }),
        ...receiverErrors(state, input),
        ...(room === undefined && { room_id: [giftMessages.no_room] }),
      }
      if (decoration === undefined || room === undefined || Object.keys(errors).length > 0) {
        return refuse('validation_failed', errors)
      }

      const stake = product(decoration.price, input.quantity)
      const value = stake === null ? null : product(stake, input.receiver_ids.length)
      const items = input.quantity * input.receiver_ids.length
      const diamonds = account('user', input.sender_id, 'diamonds')
      if (input.from_bag) {
        if (quantityInBag(state, input.sender_id, input.decoration_id) < items) return refuse('insufficient_items')
      } else if (value === null || balanceOf(state, diamonds) < value) {
        return refuse('insufficient_balance')
      }
      if (stake === null || value === null) return refuse('balance_limit')

      const shares = sharesOf(decoration.kind, settings.ownerPercent)
      const cost = input.from_bag ? 0 : value
      const ownerShare = room.owner_id === input.sender_id ? 0 : percentOf(value, shares.owner)
      const trophyPoints = shares.trophies ? value : 0
      const movementsFor = (reward: number) =>
        transfers(
          [diamonds, HOUSE, cost],
          [HOUSE, diamonds, reward],
          ...input.receiver_ids.map(
            (id) => [ISSUANCE, account('user', id, 'target'), percentOf(stake, shares.receiver)] as const,
          ),
          [ISSUANCE, account('room', room.room_id, 'target'), percentOf(value, shares.room)],
          [ISSUANCE, account('user', room.owner_id, 'target'), ownerShare],
        )
      // Checked with the highest possible reward: a refusal that depended on the draw would reveal the secret link.
      const hasOdds = decoration.odds.length > 0
      const maxReward = hasOdds ? maxTotalReward(decoration.odds, stake, input.receiver_ids.length) : 0
      const streakRow = streakKey(input.sender_id, room.room_id, input.decoration_id)
      const streak = hasOdds ? state.get(streaks, streakRow) : undefined
      if (maxReward === null || nextStreak(streak, now, maxReward).won > MAX_INTEGER) return refuse('balance_limit')
      const maxMovements = movementsFor(maxReward)
      const error = transferError(state, maxMovements)
      if (error !== undefined) return refuse(error)
      if (room.trophy_points + trophyPoints > MAX_INTEGER) return refuse('balance_limit')

      const gift = {
        sender_id: input.sender_id,
        receiver_ids: [...input.receiver_ids],
        room_id: room.room_id,
        decoration_id: input.decoration_id,
        kind: decoration.kind,
        price: decoration.price,
        quantity: input.quantity,
        cost,
        from_bag: input.from_bag,
        encrypted: input.encrypted,
        receiver_percent: shares.receiver,
        room_percent: shares.room,
        owner_percent: shares.owner,
        trophy_points: trophyPoints,
      }
      if (!hasOdds) return [{ type: 'gift-sent', data: gift, movements: maxMovements }]
      const { opening, drawData } = drawOrders(state, settings.chains, input, decoration, stake)
      const reward = drawData.draws.reduce((sum, draw) => sum + draw.reward, 0)
      const data = { ...gift, ...drawData, ...nextStreak(streak, now, reward), ...reachedThresholds(drawData.draws) }
      return [...opening, { type: 'gift-drawn', data, movements: movementsFor(reward) }]
    },
    result: (state, input, events) => sentGift(state, input, events),
  }
}

/** The thresholds of big wins that a draw reaches, by which frames are made. */
function reachedThresholds(draws: readonly { readonly reward: number }[]) {
  const highest = Math.max(...draws.map(({ reward }) => reward))
  return {
    ...(highest >= BIG_WIN_ROOM && { big_win_room: BIG_WIN_ROOM }),
    ...(highest >= BIG_WIN_ALL && { big_win_all: BIG_WIN_ALL }),
  }
}

function reads({ sender_id, decoration_id, receiver_ids, room, from_bag }: SendGift): readonly Key[] {
  return [
    keyOf(decorations, decoration_id),
    keyOf(balances, account('user', sender_id, 'diamonds')),
    keyOf(balances, HOUSE),
    keyOf(balances, ISSUANCE),
    ...(from_bag
      ? [
          keyOf(bagItems, bagItemKey(sender_id, decoration_id)),
          keyOf(bagCounts, sender_id),
          keyOf(bagTotals, decoration_id),
        ]
      : []),
    ...receiver_ids.flatMap((id) => [keyOf(users, id), keyOf(balances, account('user', id, 'target'))]),
    ...roomRefKeys(room),
    ...(typeof room === 'number' ? roomKeys(room) : []),
  ]
}

const roomKeys = (roomId: number): readonly Key[] => [
  keyOf(rooms, roomId),
  keyOf(balances, account('room', roomId, 'target')),
]

function dependentKeys(state: State, input: SendGift, { ownerPercent }: GiftSettings): readonly Key[] {
  const { sender_id, decoration_id, room } = input
  const roomId = resolveRoomRef(state, room)
  if (roomId === undefined) return dependentRoomRefKeys(state, room)
  const keys = [...dependentRoomRefKeys(state, room), ...(roomId === room ? [] : roomKeys(roomId))]
  const draws = (state.get(decorations, String(decoration_id))?.odds.length ?? 0) > 0
  if (draws) keys.push(...luckyKeys(sender_id), keyOf(streaks, streakKey(sender_id, roomId, decoration_id)))
  if (ownerPercent > 0 && state.isLoaded(rooms, String(roomId))) {
    const owner = state.get(rooms, String(roomId))?.owner_id
    if (owner !== undefined) keys.push(keyOf(balances, account('user', owner, 'target')))
  }
  return keys
}

function receiverErrors(state: State, { sender_id, receiver_ids }: SendGift): { user_id?: LocalizedText[] } {
  const unknown = receiver_ids.filter((id) => state.get(users, String(id)) === undefined)
  const messages = [
    ...(receiver_ids.includes(sender_id) ? [giftMessages.sender_is_receiver] : []),
    ...unknown.map(fieldMessages.no_user),
  ]
  return messages.length > 0 ? { user_id: messages } : {}
}

function sentGift(state: State, input: SendGift, events: readonly PositionedEvent[]): SentGift {
  const sent = events.at(-1)
  if (sent === undefined || (sent.type !== 'gift-sent' && sent.type !== 'gift-drawn'))
    throw new Error('nothing was sent')
  const rewards = sent.type === 'gift-drawn' ? sent.data.draws.map(({ reward }) => reward) : []
  return {
    diamonds: balanceOf(state, account('user', input.sender_id, 'diamonds')),
    decoration_id: sent.data.decoration_id,
    price: sent.data.price,
    drawn: sent.type === 'gift-drawn',
    orders: sent.data.receiver_ids.map((_, i) => ({ order_id: orderId(sent.position, i), reward: rewards[i] ?? 0 })),
  }
}

/** The position of the send that an order id belongs to; undefined for anything else. */
export function parseOrderId(order: string): number | undefined {
  const position = /^([1-9]\d{0,14})-\d{1,3}$/.exec(order)?.[1]
  return position === undefined ? undefined : Number(position)
}

/** Order `i` (from 0) of the send at a position. */
export const orderId = (position: number, i: number): string => `${position}-${i}`

/** Consecutive sends of one gift by one sender in one room. */
export const streaks = projection('gift_streaks', {
  sender_id: integer(),
  room_id: integer(),
  decoration_id: integer(),
  times: integer(),
  /** Diamonds won since the streak started. */
  won: integer(),
  last_at: micros(),
})

type Streak = RowOf<typeof streaks>

/** A streak ends after this long without a send. */
const STREAK_TIMEOUT_MICROS = 6_000_000

const streakKey = (senderId: number, roomId: number, decorationId: number): string =>
  `${senderId}:${roomId}:${decorationId}`

/** The streak after one more send, which won `won` diamonds. */
function nextStreak(streak: Streak | undefined, now: Micros, won: number): { times: number; won: number } {
  if (streak === undefined || now - streak.last_at >= STREAK_TIMEOUT_MICROS) return { times: 1, won }
  return { times: streak.times + 1, won: streak.won + won }
}

export const evolveStreaks: Evolver = {
  'gift-drawn': (state, { data, at }) => {
    const { sender_id, room_id, decoration_id, times, won } = data
    const streak = { sender_id, room_id, decoration_id, times, won, last_at: at }
    state.set(streaks, streakKey(sender_id, room_id, decoration_id), streak)
  },
}
