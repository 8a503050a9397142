import { type Static, Type } from '@sinclair/typebox'

const port = Type.Integer()
const mix = Type.Union([Type.Literal('uniform'), Type.Literal('hot')])

/** A job for the load generator. */
export const Job = Type.Union([
  /** One request of every sender, to fill the caches with their tokens and accounts. */
  Type.Object({ kind: Type.Literal('warm'), port, mix }),
  /** Each connection sends its next request when the last one is answered. */
  Type.Object({ kind: Type.Literal('closed'), port, mix, connections: Type.Integer(), seconds: Type.Number() }),
  /** So many requests a second, whether earlier ones were answered or not. */
  Type.Object({ kind: Type.Literal('open'), port, mix, perSecond: Type.Integer(), seconds: Type.Number() }),
  /** The same with the cheapest request, to measure how long others wait. */
  Type.Object({ kind: Type.Literal('probe'), port, perSecond: Type.Integer(), seconds: Type.Number() }),
])
export type Job = Static<typeof Job>

export const Measured = Type.Object({
  /** All answered requests, including those outside the measured time. */
  answered: Type.Integer(),
  perSecond: Type.Number(),
  /** Milliseconds. */
  p50: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
})
export type Measured = Static<typeof Measured>
