import { type Static, Type } from '@sinclair/typebox'

const port = Type.Integer()
const mix = Type.Union([Type.Literal('uniform'), Type.Literal('hot')])

/** What the generator can be asked for. */
export const Job = Type.Union([
  /** One request of every sender, so that each one's token and account were seen. */
  Type.Object({ kind: Type.Literal('warm'), port, mix }),
  /** Each connection sends its next request when the last one is answered. */
  Type.Object({ kind: Type.Literal('closed'), port, mix, connections: Type.Integer(), seconds: Type.Number() }),
  /** So many requests a second, whether the ones before are answered or not. */
  Type.Object({ kind: Type.Literal('open'), port, mix, perSecond: Type.Integer(), seconds: Type.Number() }),
  /** The same of the cheapest request that there is, to see how long others wait. */
  Type.Object({ kind: Type.Literal('probe'), port, perSecond: Type.Integer(), seconds: Type.Number() }),
])
export type Job = Static<typeof Job>

export const Measured = Type.Object({
  /** All that were answered, those included that were not measured. */
  answered: Type.Integer(),
  perSecond: Type.Number(),
  /** Milliseconds. */
  p50: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
})
export type Measured = Static<typeof Measured>
