import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { Id, Incarnation } from './common.ts'
import { RoomResource } from './rooms.ts'

/** The frames of a websocket: each is a text message with one JSON object. */

const MAX_CHANNEL_LENGTH = 200
/** Channels of one `sub`. */
export const MAX_CHANNELS_PER_FRAME = 50

const Position = Type.String({ pattern: '^(0|[1-9][0-9]{0,15})$', description: 'a ledger position' })
export const Channel = Type.String({
  minLength: 1,
  maxLength: MAX_CHANNEL_LENGTH,
  pattern: '^[\\x21-\\x7e]*$',
  description: '`one-to-room:{room_uid}`, `user:{id}` or `global`',
})
const Token = Type.String({ minLength: 1, maxLength: 8_192, pattern: '^[\\x21-\\x7e]*$' })
/** No control characters, no lone surrogates. Means the same with and without the `u` flag. */
const EchoText = Type.String({
  maxLength: 100,
  pattern: '^(?:[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])*$',
})
export const Echo = Type.Optional(Type.Union([Type.Number(), EchoText], { description: 'echoed in the answer' }))

const Since = Type.Optional({
  ...Position,
  description: 'the newest position that the client has of this channel, with all of its frames',
})

const Ledger = Type.Optional({
  ...Incarnation,
  description:
    'the `ledger` of the `ready` with which the client got these positions. When it is no longer that of the service, each ' +
    'since is answered with `"resumed":false`; for a day after that so is a since without it',
})

const WantsState = Type.Optional(
  Type.Boolean({ description: 'true: the answer carries the state of the room; ignored for other channels' }),
)

/** `description` appears in the AsyncAPI document. */
const frame = <P extends TProperties>(description: string, properties: P) => Type.Object(properties, { description })

/** Sent by clients. */
export const clientFrames = {
  auth: frame('First frame, within 10 seconds, of a client that sent no Authorization header', {
    t: Type.Literal('auth'),
    i: Echo,
    token: Token,
  }),
  refresh: frame('Renews the token before it expires; the new one has to be of the same user', {
    t: Type.Literal('refresh'),
    i: Echo,
    token: Token,
  }),
  sub: frame(
    'Subscribes to a channel. With since, what the client missed is replayed. With state, the answer carries the room ' +
      'instead, and nothing up to its position is replayed',
    {
      t: Type.Literal('sub'),
      i: Echo,
      ch: Channel,
      since: Since,
      ledger: Ledger,
      state: WantsState,
      chs: Type.Optional(Type.Never({ description: 'not with `ch`' })),
    },
  ),
  subMany: frame(
    'Subscribes to several channels; each is answered by its own subbed or err, in any order. A channel that is named ' +
      'twice is answered twice.',
    {
      t: Type.Literal('sub'),
      i: Echo,
      chs: Type.Array(Type.Object({ ch: Channel, since: Since, state: WantsState }), {
        minItems: 1,
        maxItems: MAX_CHANNELS_PER_FRAME,
      }),
      ledger: Ledger,
      state: Type.Optional(Type.Boolean({ description: 'for all channels that do not say it themselves' })),
      ch: Type.Optional(Type.Never({ description: 'not with `chs`' })),
      since: Type.Optional(Type.Never({ description: 'not with `chs`: each channel has its own' })),
    },
  ),
  unsub: frame('Unsubscribes from a channel: the same name as in its latest sub', {
    t: Type.Literal('unsub'),
    i: Echo,
    ch: Channel,
  }),
  ping: frame(
    'Asks for a pong; no client has to. There is no pong of a client: libraries answer pings of the protocol',
    { t: Type.Literal('ping'), i: Echo },
  ),
} as const
export type ClientFrame = {
  [T in keyof typeof clientFrames]: Static<(typeof clientFrames)[T]>
}[keyof typeof clientFrames]
/** Undefined when the client gave none. */
export type Echo = Static<typeof Echo> | undefined

/** Codes of `err` frames. */
export const FrameErrorCode = Type.Union(
  [
    Type.Literal('bad_frame'),
    Type.Literal('forbidden'),
    Type.Literal('not_room_member'),
    Type.Literal('too_many_channels'),
    Type.Literal('unavailable'),
    Type.Literal('unknown_channel'),
  ],
  { description: 'for programs; /docs/codes says what each means' },
)
export type FrameErrorCode = Static<typeof FrameErrorCode>

/** Sent by the service. */
export const serverFrames = {
  ready: frame('The client is authenticated and subscribed to `user:{id}` and `global`', {
    t: Type.Literal('ready'),
    user_id: Id,
    position: { ...Position, description: 'where the ledger is; events of `user:{id}` after it follow' },
    ledger: {
      ...Incarnation,
      description: 'what positions belong to: send it in sub. Another one than before: commits were lost',
    },
    heartbeat: Type.Integer({ description: 'seconds between two heartbeats: a ping of the protocol, and hb' }),
  }),
  refreshed: frame('The token was renewed', { t: Type.Literal('refreshed'), i: Echo }),
  subbed: frame(
    'The client is subscribed: all events of the channel after `position` follow as `ev` frames, missed ones first',
    {
      t: Type.Literal('subbed'),
      i: Echo,
      ch: Channel,
      position: Position,
      resumed: Type.Boolean({
        description:
          'false: some events after since can no longer be replayed; reload by REST. With state: some events after since ' +
          'are not sent, as the state includes them',
      }),
      state: Type.Optional({
        ...RoomResource,
        description: 'the room as GET /v1/rooms/{uid} answers it, as of `position`; only when it was asked for',
      }),
    },
  ),
  unsubbed: frame(
    'The client is unsubscribed: nothing more of this channel follows. With code it comes unasked, and the channel can ' +
      'be subscribed to again only by a member of the room.',
    {
      t: Type.Literal('unsubbed'),
      i: Echo,
      ch: Channel,
      code: Type.Optional(
        Type.Literal('not_room_member', { description: 'the user has left the room or was removed from it' }),
      ),
    },
  ),
  ev: frame('An event of the channel. Frames of the same ledger event share `position` and `prev`.', {
    t: Type.Literal('ev'),
    ch: Channel,
    event: Type.String(),
    position: Position,
    prev: Type.Union([Position, Type.Null()], {
      description: 'the position of the previous event on this channel; null for its first',
    }),
    id: Type.String({
      pattern: '^[1-9][0-9]*\\.[0-9]+$',
      description: 'the position, and the index of the frame in its ledger event, from 0',
    }),
    enc: Type.Optional(
      Type.Literal('rot41', {
        description:
          'image_path, video_path and current_profile_image_url are encoded: each character from ! to ~ is moved 41 places forward, after ~ on from !',
      }),
    ),
    data: Type.Object({}),
  }),
  state: frame('Current state, outside the channel’s history; never replayed', {
    t: Type.Literal('ev'),
    ch: Channel,
    event: Type.String(),
    position: Type.Optional({
      ...Position,
      description: 'every event up to it is taken into account, maybe later ones, too',
    }),
    data: Type.Object({}),
  }),
  err: frame('A client frame was refused', {
    t: Type.Literal('err'),
    i: Echo,
    code: FrameErrorCode,
    message: Type.String({ description: 'for people' }),
    ch: Type.Optional({ ...Channel, description: 'the channel that was refused, or the one of the refused frame' }),
    retry: Type.Optional(Type.Literal(true, { description: 'the same request may succeed later' })),
  }),
  pong: frame('The answer to a ping', { t: Type.Literal('pong'), i: Echo }),
  hb: frame('Heartbeat; needs no answer', { t: Type.Literal('hb') }),
  bye: frame('The instance stops, or has no room for another socket now; the close follows', {
    t: Type.Literal('bye'),
    code: Type.Integer({ description: 'the close code that follows' }),
    retry_ms: Type.Integer({ description: 'milliseconds to wait before reconnecting' }),
  }),
} as const

/** Close codes: 40xx do not reconnect, 41xx back off and resume, 42xx reconnect at once with jitter. */
export const closeCodes = {
  4001: 'no token in time, an invalid one, or a revoked one: log in',
  4003: 'forbidden: the token is not of an app user, or a renewed token is of another user',
  4004: 'frames that are too large or invalid',
  4009: 'replaced: the user has more than 10 sockets, and this was the oldest',
  4026: 'a forced update began: update the app',
  4100: 'no capacity: reconnect after retry_ms of the bye frame, without one back off, and resume with since',
  4101: 'too slow: too much was unsent; back off, then resume with since',
  4103: 'maintenance began: show its screen, and poll app-status until it ends',
  4108: 'more than 20 frames in a second: back off, then resume with since',
  4200: 'the instance stops: reconnect after retry_ms of the bye frame, and resume with since',
  4201: 'two pings of the protocol were not answered: reconnect and resume with since',
  4202: 'the token expired: reconnect with a new one and resume with since',
} as const
export type CloseCode = keyof typeof closeCodes
