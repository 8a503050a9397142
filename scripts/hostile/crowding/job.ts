import { type Static, Type } from '@sinclair/typebox'

/** What the hammer, a process of its own, can be asked for. All requests are of one user. */
export const Job = Type.Union([
  /** As many of the requests as are answered, on connections of their own and pipelined. */
  Type.Object({
    kind: Type.Literal('beyond'),
    port: Type.Integer(),
    request: Type.String(),
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
])
export type Job = Static<typeof Job>

/** Answers by status. */
export const Hammered = Type.Record(Type.String(), Type.Integer())
export type Hammered = Static<typeof Hammered>
