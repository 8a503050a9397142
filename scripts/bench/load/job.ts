import { type Static, Type } from '@sinclair/typebox'
import { readNames } from '../reads/workload.ts'

/** Gifts (`uniform` and `hot`), a read by its name, or `app`: reads and gifts as an app sends them. */
const mixes = ['uniform', 'hot', 'app', ...readNames] as const

const port = Type.Integer()
const mix = Type.Union(mixes.map((name) => Type.Literal(name)))
export type JobMix = (typeof mixes)[number]

/** A job for the load generator. */
export const Job = Type.Union([
  /** One request of every sender, or of the first `count`, to fill the caches with their tokens and accounts. */
  Type.Object({ kind: Type.Literal('warm'), port, mix, count: Type.Optional(Type.Integer()) }),
  /** Each connection sends its next request when the last one is answered. */
  Type.Object({
    kind: Type.Literal('closed'),
    port,
    /** Further servers, among which the connections are divided evenly. */
    otherPorts: Type.Optional(Type.Array(port)),
    mix,
    connections: Type.Integer(),
    seconds: Type.Number(),
  }),
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
