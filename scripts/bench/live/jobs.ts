import { type Static, Type } from '@sinclair/typebox'

/**
 * Requests to the processes of this bench, and their answers. `--against` also sends those of the server to another
 * checkout, so their fields stay as they are.
 */

export const implementationNames = ['ours', 'plain loop', 'one string', 'socket.io'] as const
export type ImplementationName = (typeof implementationNames)[number]
const ImplementationSchema = Type.Union(implementationNames.map((name) => Type.Literal(name)))

export const ServerJob = Type.Union([
  Type.Object({ do: Type.Literal('listen'), contender: ImplementationSchema, sockets: Type.Integer() }),
  Type.Object({
    do: Type.Literal('measure'),
    sockets: Type.Integer(),
    /** Events sent in one turn, and how many may be undelivered when the next ones are sent. */
    atOnce: Type.Integer(),
    underWay: Type.Integer(),
    ms: Type.Integer(),
  }),
  Type.Object({ do: Type.Literal('weigh') }),
])
export const Listening = Type.Object({
  /** The port of the sockets, and the port where clients report. */
  port: Type.Integer(),
  reports: Type.Integer(),
  /** A token for each socket. */
  tokens: Type.Array(Type.String()),
})
export type Listening = Static<typeof Listening>
/** Frames that reached clients, with the time and the server's CPU time that this took. */
export const Measured = Type.Object({
  frames: Type.Integer(),
  seconds: Type.Number(),
  cpuMicros: Type.Number(),
  /** When the first event was sent, by `clock`; checkouts of before do not say it. */
  startedAt: Type.Optional(Type.Number()),
})
export type Measured = Static<typeof Measured>
export const Memory = Type.Object({ bytes: Type.Integer() })

export const ClientJob = Type.Union([
  Type.Object({ do: Type.Literal('connect'), contender: ImplementationSchema, to: Listening }),
  /** When the first and the last frame since the last such job came. */
  Type.Object({ do: Type.Literal('arrivals') }),
])
export const Connected = Type.Object({ connected: Type.Integer() })
/** By `clock`; the first is huge and the last 0 when there was none. */
export const Arrivals = Type.Object({ first: Type.Number(), last: Type.Number() })
