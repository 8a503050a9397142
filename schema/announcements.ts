import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Amount, Id, Person } from './common.ts'
import { Notification } from './notifications.ts'
import { Wallet } from './wallet.ts'

/** Every frame of the websocket, one JSON object each: what clients send, what they are sent, and what it says. */

/** A place in the ledger's order, as text. */
export const Position = Type.String({ pattern: '^(0|[1-9][0-9]{0,15})$', description: 'a position of the ledger' })
/** `one-to-room:{room_uid}`, `user:{id}` or `global`. */
export const ChannelName = Type.String({ minLength: 1, maxLength: 100, description: 'a channel' })
const Echo = Type.Union([Type.Integer(), Type.String({ maxLength: 64 })], {
  description: 'any number or text of the client; the answer carries it',
})
const Token = Type.String({ minLength: 1, maxLength: 8_192, description: 'a JWT, without "Bearer"' })

/** The first frame of a client that could not send a header. */
export const AuthFrame = Type.Object({ t: Type.Literal('auth'), token: Token })
/** A new token of the same user for this socket. */
export const RefreshFrame = Type.Object({ t: Type.Literal('refresh'), token: Token })
export const SubFrame = Type.Object({
  t: Type.Literal('sub'),
  i: Type.Optional(Echo),
  ch: ChannelName,
  since: Type.Optional({ ...Position, description: 'the last position that the client has of this channel' }),
})
export const UnsubFrame = Type.Object({ t: Type.Literal('unsub'), i: Type.Optional(Echo), ch: ChannelName })
export const PingFrame = Type.Object({ t: Type.Literal('ping') })

export const clientFrames = {
  auth: AuthFrame,
  refresh: RefreshFrame,
  sub: SubFrame,
  unsub: UnsubFrame,
  ping: PingFrame,
} as const satisfies Record<string, TSchema>
export const ClientFrame = Type.Union([AuthFrame, RefreshFrame, SubFrame, UnsubFrame, PingFrame])
export type ClientFrame = Static<typeof ClientFrame>

/** Why a socket was closed: 40xx stay away, 41xx back off and resume, 42xx come back now. */
export const closeCodes = {
  4001: 'no token in time, a bad one, or its sessions were revoked: log in',
  4003: 'forbidden: this token may not be here',
  4004: 'frames that are too large or not understood',
  4009: 'replaced: the user opened too many sockets, and this was the oldest',
  4026: 'a forced update began: update the app',
  4100: 'no capacity: come back later',
  4101: 'too slow: too much was unsent; resume with since',
  4103: 'maintenance began: show its screen, ask app-status, come back later',
  4108: 'too many frames a second: come back later',
  4200: 'this instance stops: come back after retry_ms of the bye, and resume with since',
  4201: 'no pong: come back and resume with since',
  4202: 'the token is over: come back with a new one and resume with since',
} as const
export type CloseCode = keyof typeof closeCodes

export const ReadyFrame = Type.Object({
  t: Type.Literal('ready'),
  user_id: Id,
  position: Position,
  heartbeat: Type.Integer({ description: 'seconds between two hb frames' }),
})
export const SubbedFrame = Type.Object({
  t: Type.Literal('subbed'),
  i: Type.Optional(Echo),
  ch: ChannelName,
  position: Position,
  resumed: Type.Boolean({ description: 'false: something after since can no longer be replayed; reload by REST' }),
})
export const ErrFrame = Type.Object({
  t: Type.Literal('err'),
  i: Type.Optional(Echo),
  code: Type.String({ description: 'for programs' }),
  message: Type.String({ description: 'for people' }),
})
export const PongFrame = Type.Object({ t: Type.Literal('pong') })
export const HbFrame = Type.Object({ t: Type.Literal('hb') })
export const ByeFrame = Type.Object({
  t: Type.Literal('bye'),
  code: Type.Integer({ description: 'the code that the socket is closed with' }),
  retry_ms: Type.Integer({ description: 'how long to wait before coming back' }),
})

/** `YYYY-MM-DD HH:MM:SS`, UTC. */
const Seconds = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$', description: 'UTC' })
const Player = Type.Omit(Person, ['uid'])
const Coins = Type.Integer({ minimum: 0, description: 'coins' })
const Diamonds = Type.Integer({ minimum: 0, description: 'diamonds' })
const GameRef = { game_id: Id }
/** Of a send with `with_encryption` in rot41. */
const ImagePath = Type.String({ description: 'a storage path; in rot41 when the frame says so in enc' })
const Picture = Type.Object({ id: Id, name: Type.String(), image_path: ImagePath })

export const RouletteCreated = Type.Object({
  id: Id,
  game_price: Coins,
  prize: { ...Coins, description: 'coins that a full table wins' },
  max_players: Type.Integer(),
  from: Person,
  created_at: Seconds,
})
export const RouletteJoined = Type.Object({ ...GameRef, user: Player })
export const RouletteLeft = RouletteJoined
export const RouletteFinished = Type.Object({
  ...GameRef,
  winner: Player,
  prize: { ...Coins, description: 'coins that the winner was paid' },
  losers: Type.Array(Player),
})
export const RouletteDestroyed = Type.Object(GameRef)

export const LuckyBigWin = Type.Object({
  user: Type.Object({
    id: Id,
    name: Type.String(),
    uid: Type.String(),
    current_profile_image_url: Type.String({ description: 'an address; in rot41 when the frame says so in enc' }),
  }),
  reward: { ...Diamonds, description: 'diamonds that one order won' },
  decoration: Picture,
})
export type LuckyBigWin = Static<typeof LuckyBigWin>

export const LuckyGiftSent = Type.Object({
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
export type LuckyGiftSent = Static<typeof LuckyGiftSent>

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

/** What is told on `user:{id}`. `wallet-changed` is the state of now: the newest only, never replayed. */
export const userEvents = {
  'wallet-changed': Wallet.properties.data,
  notification: Notification,
} as const satisfies Record<string, TSchema>

/** What is told on `global`; not replayed. */
export const globalEvents = {
  'lucky-big-win-all': LuckyBigWin,
} as const satisfies Record<string, TSchema>

const frameEvents = { ...roomEvents, ...userEvents, ...globalEvents }
export type FrameEvent = keyof typeof frameEvents
export type FrameData<E extends FrameEvent = FrameEvent> = Static<(typeof frameEvents)[E]>

/** An event as it is sent. Frames of one ledger event share `position` and `prev`. */
export const evFrame = (event: string, data: TSchema) =>
  Type.Object({
    t: Type.Literal('ev'),
    ch: ChannelName,
    event: Type.Literal(event),
    position: Position,
    prev: Type.Union([Position, Type.Null()], {
      description: 'the position of the event before it on this channel; null for its first',
    }),
    id: Type.String({ description: 'the position, and which frame of that event this is, from 0' }),
    enc: Type.Optional(Type.Literal('rot41', { description: 'paths and addresses of pictures are in rot41' })),
    data,
  })
