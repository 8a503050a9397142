import { type Static, type TProperties, Type } from '@sinclair/typebox'
import { Id } from './common.ts'

/** Every frame of a websocket: one JSON object of text each. */

export const MAX_CHANNEL_LENGTH = 200

const Position = Type.String({ pattern: '^(0|[1-9][0-9]{0,15})$', description: 'a position of the ledger' })
const Channel = Type.String({
  minLength: 1,
  maxLength: MAX_CHANNEL_LENGTH,
  pattern: '^[\\x21-\\x7e]*$',
  description: '`one-to-room:{room_uid}`, `user:{id}` or `global`',
})
const Token = Type.String({ minLength: 1, maxLength: 8_192, pattern: '^[\\x21-\\x7e]*$' })
/** Without control characters and lone surrogates; the same with and without the `u` flag. */
const EchoText = Type.String({
  maxLength: 100,
  pattern: '^(?:[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])*$',
})
export const Echo = Type.Optional(Type.Union([Type.Number(), EchoText], { description: 'comes back with the answer' }))

/** `about` is for the documents. */
const frame = <P extends TProperties>(about: string, properties: P) => Type.Object(properties, { description: about })

/** What clients send. */
export const clientFrames = {
  auth: frame('The first frame of a client that sent no Authorization header, within 10 seconds', {
    t: Type.Literal('auth'),
    i: Echo,
    token: Token,
  }),
  refresh: frame('A new token of the same user for this socket, before the old one is over', {
    t: Type.Literal('refresh'),
    i: Echo,
    token: Token,
  }),
  sub: frame('Subscribe to a channel; with since, hear first what was missed', {
    t: Type.Literal('sub'),
    i: Echo,
    ch: Channel,
    since: Type.Optional({ ...Position, description: 'the last position that the client has of this channel' }),
  }),
  unsub: frame('Hear no more of a channel', { t: Type.Literal('unsub'), i: Echo, ch: Channel }),
  ping: frame('Is anybody there?', { t: Type.Literal('ping'), i: Echo }),
} as const
export type ClientFrame = {
  [T in keyof typeof clientFrames]: Static<(typeof clientFrames)[T]>
}[keyof typeof clientFrames]
/** Undefined when the client gave none. */
export type Echo = Static<typeof Echo> | undefined

/** What the service sends. */
export const serverFrames = {
  ready: frame('The socket knows its user; `user:{id}` and `global` are subscribed', {
    t: Type.Literal('ready'),
    user_id: Id,
    position: Position,
    heartbeat: Type.Integer({ description: 'seconds between two signs of life' }),
  }),
  refreshed: frame('The new token is taken', { t: Type.Literal('refreshed'), i: Echo }),
  subbed: frame('All that happens on the channel after `position` follows as `ev` frames', {
    t: Type.Literal('subbed'),
    i: Echo,
    ch: Channel,
    position: Position,
    resumed: Type.Boolean({
      description: 'false: something after since can no longer be brought back; reload by REST',
    }),
  }),
  unsubbed: frame('Nothing more of this channel follows', { t: Type.Literal('unsubbed'), i: Echo, ch: Channel }),
  ev: frame('A part of the channel’s history. Frames of one event of the ledger share `position` and `prev`.', {
    t: Type.Literal('ev'),
    ch: Channel,
    event: Type.String(),
    position: Position,
    prev: Type.Union([Position, Type.Null()], {
      description: 'the position of the event before this one on this channel; null for its first',
    }),
    id: Type.String({
      pattern: '^[1-9][0-9]*\\.[0-9]+$',
      description: 'the position, and which frame of its event this is, from 0',
    }),
    enc: Type.Optional(Type.Literal('rot41', { description: 'paths and addresses of pictures are in rot41' })),
    data: Type.Object({}),
  }),
  state: frame('State as it is now, outside of the channel’s history', {
    t: Type.Literal('ev'),
    ch: Channel,
    event: Type.String(),
    position: Type.Optional(Position),
    data: Type.Object({}),
  }),
  err: frame('A frame of the client was not followed', {
    t: Type.Literal('err'),
    i: Echo,
    code: Type.String({ description: 'for programs' }),
    message: Type.String({ description: 'for people' }),
    ch: Type.Optional({ ...Channel, description: 'the channel that it is about, if it is about one' }),
    retry: Type.Optional(Type.Literal(true, { description: 'the same frame may be followed later' })),
  }),
  pong: frame('The answer to a ping', { t: Type.Literal('pong'), i: Echo }),
  hb: frame('The service is there', { t: Type.Literal('hb') }),
  bye: frame('The service stops; the close follows', {
    t: Type.Literal('bye'),
    code: Type.Integer({ description: 'the code that the socket is closed with' }),
    retry_ms: Type.Integer({ description: 'how long to wait before coming back' }),
  }),
} as const

/** Why a socket was closed: 40xx stay away, 41xx back off and resume, 42xx come back now, with jitter. */
export const closeCodes = {
  4001: 'no token in time, a bad one, or its sessions were revoked: log in',
  4003: 'forbidden: this token may not be here',
  4004: 'frames that are too large or not understood',
  4009: 'replaced: the user opened too many sockets, and this was the oldest',
  4026: 'a forced update began: update the app',
  4100: 'no capacity: back off, then resume with since',
  4101: 'too slow, too much was unsent: back off, then resume with since',
  4103: 'maintenance began: show its screen and ask app-status until it is over',
  4108: 'too many frames a second: back off, then resume with since',
  4200: 'this instance stops: come back after retry_ms of the bye, and resume with since',
  4201: 'no pong was heard: come back and resume with since',
  4202: 'the token is over: come back with a new one and resume with since',
} as const
export type CloseCode = keyof typeof closeCodes
