import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { WithdrawalStatus } from './agency-events.ts'
import { Maintenance, Update } from './app-status.ts'
import { Amount, Dollars, Id, Instant, Person, Seconds } from './common.ts'
import { Notification } from './notifications.ts'
import { Wallet } from './wallet.ts'

/** The `data` of event and state frames, by channel and event name. */

/** `description` appears in the AsyncAPI document. */
const eventData = <P extends TProperties>(description: string, properties: P) =>
  Type.Object(properties, { description })

const Player = Type.Omit(Person, ['uid'])
const Coins = Type.Integer({ minimum: 0, description: 'coins' })
const Diamonds = Type.Integer({ minimum: 0, description: 'diamonds' })
const ImagePath = Type.String({
  description: 'a storage path; listDecorations has its address. Encoded with rot41 when the frame has enc',
})
const VideoPath = Type.String({
  description:
    'a storage path, where the gift has a video; listDecorations has its address. Encoded with rot41 when the frame has enc',
})
const Picture = Type.Object({
  id: { ...Id, description: 'look it up in listDecorations for addresses and the name in the language of the user' },
  name: Type.String({ description: 'in English' }),
  image_path: ImagePath,
  video_path: Type.Optional(VideoPath),
})
const atGame = { game_id: Id }

const RouletteCreated = eventData('A game was created and waits for players', {
  id: Id,
  game_price: Coins,
  prize: { ...Coins, description: 'coins that the winner of a full game gets' },
  max_players: Type.Integer(),
  from: Person,
  created_at: Seconds,
})
const RouletteJoined = eventData('A player joined', { ...atGame, user: Player })
const RouletteLeft = eventData('A player left and got the stake back', { ...atGame, user: Player })
const RouletteFinished = eventData('The wheel was spun, and the winner got the prize', {
  ...atGame,
  winner: Player,
  prize: { ...Coins, description: 'coins that the winner got' },
  losers: Type.Array(Player),
})
const RouletteDestroyed = eventData('The game was cancelled, and all players got their stakes back', atGame)

const bigWin = {
  user: Type.Object({
    id: Id,
    name: Type.String(),
    uid: Type.String(),
    current_profile_image_url: Type.String({ description: 'an address; encoded with rot41 when the frame has enc' }),
  }),
  reward: { ...Diamonds, description: 'diamonds that one order won' },
  decoration: Picture,
}
const LuckyBigWin = eventData('One order won 5,000 diamonds or more', bigWin)
const LuckyBigWinAll = eventData('One order won 10,000 diamonds or more; never replayed', bigWin)

const send = {
  id: Type.String({ description: 'id of the send' }),
  totalcost: { ...Diamonds, description: 'diamonds that this send cost; 0 for a gift from the bag' },
  gift: Picture,
}
const people = { senderid: Id, receiversids: Type.Array(Type.String({ description: 'id of a user' })) }
const Quantity = { ...Id, description: 'gifts for each receiver' }
const GiftSent = eventData('A gift without draws was sent', {
  ...send,
  ...people,
  quantity: Quantity,
  roomuid: Type.String(),
  last_update: Seconds,
})
const LuckyGiftSent = eventData(
  'A gift with draws was sent. After 6 seconds without another, times starts again at 1.',
  {
    ...send,
    times: Type.Integer({ minimum: 1, description: 'consecutive sends, this one included' }),
    ...people,
    currencycount: { ...Amount, description: 'diamonds won by the consecutive sends' },
    quantity: Quantity,
    roomuid: Type.String(),
    win: { ...Diamonds, description: 'diamonds that this send won' },
    last_update: Seconds,
  },
)

const WithdrawalChanged = eventData(
  'A withdrawal request was made, or its status changed; for its requester and its addressee',
  {
    id: Id,
    status: WithdrawalStatus,
    amount_in_dollars: Dollars,
    agent_benefit: Type.Boolean(),
    updated_at: Instant,
  },
)

/** Events on `one-to-room:{room_uid}`. */
export const roomEvents = {
  'roulette-wheel-created': RouletteCreated,
  'roulette-wheel-joined': RouletteJoined,
  'roulette-wheel-left': RouletteLeft,
  'roulette-wheel-finished': RouletteFinished,
  'roulette-wheel-destroyed': RouletteDestroyed,
  'lucky-big-win': LuckyBigWin,
  'one-to-room:gift-sent': GiftSent,
  'one-to-room:lucky-gift-sent': LuckyGiftSent,
} as const satisfies Record<string, TSchema>

/** Events on `user:{id}`. */
export const userEvents = {
  notification: Notification,
  'withdrawal-changed': WithdrawalChanged,
} as const satisfies Record<string, TSchema>

/** Events on `global`. */
export const globalEvents = {
  'lucky-big-win-all': LuckyBigWinAll,
} as const satisfies Record<string, TSchema>

/** State on `user:{id}`: only the newest is sent, and it is never replayed. */
export const userStates = {
  'wallet-changed': Wallet.properties.data,
} as const satisfies Record<string, TSchema>

/** State on `global`, for the clients that it concerns; the socket is closed after it. */
export const globalStates = {
  'app-status': Type.Union([Maintenance, Update], {
    description: 'Maintenance or a forced update begins for this client; the close follows',
  }),
} as const satisfies Record<string, TSchema>

const channelEvents = { ...roomEvents, ...userEvents, ...globalEvents, ...userStates }
export type ChannelEvent = keyof typeof channelEvents
export type ChannelEventData<E extends ChannelEvent = ChannelEvent> = Static<(typeof channelEvents)[E]>
