import { type Static, Type } from '@sinclair/typebox'
import { Id } from './common.ts'

/** Every frame of a websocket: one JSON object of text each. */

export const MAX_CHANNEL_LENGTH = 200

const Position = Type.String({ pattern: '^(0|[1-9][0-9]{0,15})$', description: 'a position of the ledger' })
const Channel = Type.String({
  minLength: 1,
  maxLength: MAX_CHANNEL_LENGTH,
  description: '`one-to-room:{room_uid}`, `user:{id}` or `global`',
})
const Token = Type.String({ minLength: 1, maxLength: 8_192 })
const Echo = Type.Optional(
  Type.Union([Type.Number(), Type.String({ maxLength: 100 })], { description: 'comes back with the answer' }),
)

/** What clients send. */
export const clientFrames = {
  auth: Type.Object({ t: Type.Literal('auth'), i: Echo, token: Token }),
  refresh: Type.Object({ t: Type.Literal('refresh'), i: Echo, token: Token }),
  sub: Type.Object({ t: Type.Literal('sub'), i: Echo, ch: Channel, since: Type.Optional(Position) }),
  unsub: Type.Object({ t: Type.Literal('unsub'), i: Echo, ch: Channel }),
  ping: Type.Object({ t: Type.Literal('ping'), i: Echo }),
} as const
export type ClientFrame = {
  [T in keyof typeof clientFrames]: Static<(typeof clientFrames)[T]>
}[keyof typeof clientFrames]
/** Undefined when the client gave none. */
export type Echo = Static<typeof Echo> | undefined

/** What the service sends. */
export const serverFrames = {
  ready: Type.Object({
    t: Type.Literal('ready'),
    user_id: Id,
    position: Position,
    heartbeat: Type.Integer({ description: 'seconds between two signs of life' }),
  }),
  refreshed: Type.Object({ t: Type.Literal('refreshed'), i: Echo }),
  /** All that happens on the channel after `position` follows as `ev` frames. */
  subbed: Type.Object({ t: Type.Literal('subbed'), i: Echo, ch: Channel, position: Position, resumed: Type.Boolean() }),
  unsubbed: Type.Object({ t: Type.Literal('unsubbed'), i: Echo, ch: Channel }),
  /** A part of the channel's history. Frames of one event of the ledger share `position` and `prev`. */
  ev: Type.Object({
    t: Type.Literal('ev'),
    ch: Channel,
    event: Type.String(),
    position: Position,
    /** The position of the channel's event before this one; null for its first. */
    prev: Type.Union([Position, Type.Null()]),
    id: Type.String({ pattern: '^[1-9][0-9]*\\.[0-9]+$' }),
    enc: Type.Optional(Type.Literal('rot41')),
    data: Type.Object({}),
  }),
  /** State as it is now, outside of the channel's history. */
  state: Type.Object({
    t: Type.Literal('ev'),
    ch: Channel,
    event: Type.String(),
    position: Type.Optional(Position),
    data: Type.Object({}),
  }),
  err: Type.Object({ t: Type.Literal('err'), i: Echo, code: Type.String(), message: Type.String() }),
  pong: Type.Object({ t: Type.Literal('pong'), i: Echo }),
  hb: Type.Object({ t: Type.Literal('hb') }),
  bye: Type.Object({ t: Type.Literal('bye'), code: Type.Integer(), retry_ms: Type.Integer() }),
} as const
