import { type Static, Type } from '@sinclair/typebox'

/** What the processes of the bench of sockets are asked for, and what they answer. */

export const implementationNames = ['ours', 'plain loop', 'one string', 'socket.io'] as const
export type ImplementationName = (typeof implementationNames)[number]
const ImplementationSchema = Type.Union(implementationNames.map((name) => Type.Literal(name)))

export const ServerJob = Type.Union([
  Type.Object({ do: Type.Literal('listen'), contender: ImplementationSchema, sockets: Type.Integer() }),
  Type.Object({
    do: Type.Literal('measure'),
    sockets: Type.Integer(),
    /** Events in one turn, and those that may be under way while the next ones are told. */
    atOnce: Type.Integer(),
    underWay: Type.Integer(),
    ms: Type.Integer(),
  }),
  Type.Object({ do: Type.Literal('weigh') }),
])
export const Listening = Type.Object({
  /** Where sockets are opened, and where clients report. */
  port: Type.Integer(),
  reports: Type.Integer(),
  /** A token for each socket. */
  tokens: Type.Array(Type.String()),
})
export type Listening = Static<typeof Listening>
/** Frames that reached clients, in so many seconds and by so much of the server's processor time. */
export const Measured = Type.Object({ frames: Type.Integer(), seconds: Type.Number(), cpuMicros: Type.Number() })
export type Measured = Static<typeof Measured>
export const Weight = Type.Object({ bytes: Type.Integer() })

export const ClientJob = Type.Object({ contender: ImplementationSchema, to: Listening })
export const Connected = Type.Object({ connected: Type.Integer() })
