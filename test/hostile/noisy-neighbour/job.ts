import { type Static, Type } from '@sinclair/typebox'

/** What the load process can be asked for. */
export const Job = Type.Union([
  /** As many requests as are answered, on connections that send one of them each, and pipelined. */
  Type.Object({
    kind: Type.Literal('beyond'),
    port: Type.Integer(),
    requests: Type.Array(Type.String(), { minItems: 1 }),
    /** The address that they come from. */
    from: Type.Optional(Type.String()),
    closed: Type.Integer(),
    pipelined: Type.Integer(),
    seconds: Type.Number(),
  }),
  /** So many of the requests at once. */
  Type.Object({
    kind: Type.Literal('burst'),
    port: Type.Integer(),
    request: Type.String(),
    count: Type.Integer(),
    afterSeconds: Type.Number(),
  }),
  /** Sockets of one user that subscribe to a room with an old position and leave it, as often as frames are let through. */
  Type.Object({
    kind: Type.Literal('resumes'),
    port: Type.Integer(),
    token: Type.String(),
    channel: Type.String(),
    sockets: Type.Integer(),
    framesPerSecond: Type.Integer(),
    seconds: Type.Number(),
  }),
])
export type Job = Static<typeof Job>

/** Answers by status, and frames by kind. */
export const ResponseCounts = Type.Record(Type.String(), Type.Integer())
export type ResponseCounts = Static<typeof ResponseCounts>
