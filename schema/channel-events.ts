import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { WithdrawalStatus } from './agency-events.ts'
import { Maintenance, Update } from './app-status.ts'
import { Amount, Dollars, Id, Instant, Person } from './common.ts'
import { Notification } from './notifications.ts'
import { Wallet } from './wallet.ts'

/** What sockets are told: the data of each event's frame, by the event's name. */

/** `about` is for the documents. */
const eventData = <P extends TProperties>(about: string, properties: P) =>
  Type.Object(properties, { description: about })

/** `YYYY-MM-DD HH:MM:SS`, UTC. */
const Seconds = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$',
  description: 'YYYY-MM-DD HH:MM:SS, UTC',
})
const Player = Type.Omit(Person, ['uid'])
const Coins = Type.Integer({ minimum: 0, description: 'coins' })
const Diamonds = Type.Integer({ minimum: 0, description: 'diamonds' })
const ImagePath = Type.String({ description: 'a storage path; in rot41 when the frame says so in enc' })
const Picture = Type.Object({ id: Id, name: Type.String(), image_path: ImagePath })
const atGame = { game_id: Id }

const RouletteCreated = eventData('A game is open', {
  id: Id,
  game_price: Coins,
  prize: { ...Coins, description: 'coins that a full table wins' },
  max_players: Type.Integer(),
  from: Person,
  created_at: Seconds,
})
const RouletteJoined = eventData('A player joined', { ...atGame, user: Player })
const RouletteLeft = eventData('A player left and was paid back', { ...atGame, user: Player })
const RouletteFinished = eventData('The wheel was spun and the winner was paid', {
  ...atGame,
  winner: Player,
  prize: { ...Coins, description: 'coins that the winner was paid' },
  losers: Type.Array(Player),
})
const RouletteDestroyed = eventData('The game was cancelled and everyone was paid back', atGame)

const bigWin = {
  user: Type.Object({
    id: Id,
    name: Type.String(),
    uid: Type.String(),
    current_profile_image_url: Type.String({ description: 'an address; in rot41 when the frame says so in enc' }),
  }),
  reward: { ...Diamonds, description: 'diamonds that one order won' },
  decoration: Picture,
}
const LuckyBigWin = eventData('One order won 5,000 diamonds or more', bigWin)
const LuckyBigWinAll = eventData('One order won 10,000 diamonds or more; never replayed', bigWin)

const LuckyGiftSent = eventData('A gift with a draw was sent; 6 seconds without one, and times starts again', {
  id: Type.String({ description: 'of the send' }),
  totalcost: { ...Diamonds, description: 'diamonds that this send cost; 0 from the bag' },
  gift: Picture,
  times: Type.Integer({ minimum: 1, description: 'sends since the count started, this one included' }),
  senderid: Id,
  receiversids: Type.Array(Type.String()),
  currencycount: { ...Amount, description: 'diamonds won since the count started' },
  quantity: Id,
  roomuid: Type.String(),
  win: { ...Diamonds, description: 'diamonds that this send won' },
  last_update: Seconds,
})

const WithdrawalChanged = eventData('A request of the user, or one that is addressed to them, stands elsewhere now', {
  id: Id,
  status: WithdrawalStatus,
  amount_in_dollars: Dollars,
  agent_benefit: Type.Boolean(),
  updated_at: Instant,
})

/** What is told on `one-to-room:{room_uid}`, by the event's name. */
export const roomEvents = {
  'roulette-wheel-created': RouletteCreated,
  'roulette-wheel-joined': RouletteJoined,
  'roulette-wheel-left': RouletteLeft,
  'roulette-wheel-finished': RouletteFinished,
  'roulette-wheel-destroyed': RouletteDestroyed,
  'lucky-big-win': LuckyBigWin,
  'one-to-room:lucky-gift-sent': LuckyGiftSent,
} as const satisfies Record<string, TSchema>

/** What is told on `user:{id}`. */
export const userEvents = {
  notification: Notification,
  'withdrawal-changed': WithdrawalChanged,
} as const satisfies Record<string, TSchema>

/** What is told on `global`. */
export const globalEvents = {
  'lucky-big-win-all': LuckyBigWinAll,
} as const satisfies Record<string, TSchema>

/** State, not history: what holds now, the newest only, never replayed. */
export const userStates = {
  'wallet-changed': Wallet.properties.data,
} as const satisfies Record<string, TSchema>

/** As `userStates`, for everyone whom it concerns; the socket is closed after it. */
export const globalStates = {
  'app-status': Type.Union([Maintenance, Update], {
    description: 'Maintenance or a forced update begins for this client',
  }),
} as const satisfies Record<string, TSchema>

const channelEvents = { ...roomEvents, ...userEvents, ...globalEvents, ...userStates }
export type ChannelEvent = keyof typeof channelEvents
export type ChannelEventData<E extends ChannelEvent = ChannelEvent> = Static<(typeof channelEvents)[E]>
