import { Type } from '@sinclair/typebox'

/** Requests to the processes with the sockets of a room, and their answers. */
export const ClientJob = Type.Union([
  Type.Object({
    do: Type.Literal('connect'),
    port: Type.Integer(),
    room: Type.String(),
    tokens: Type.Array(Type.String()),
    /** Every so many-th socket does not read; 0: all read. */
    sleeperEvery: Type.Integer(),
  }),
  /** Times in milliseconds since 1970, by position: when each command was answered. */
  Type.Object({
    do: Type.Literal('report'),
    last: Type.Integer(),
    answered: Type.Array(Type.Tuple([Type.Integer(), Type.Number()])),
  }),
  Type.Object({ do: Type.Literal('resumeReading') }),
  Type.Object({ do: Type.Literal('disconnect') }),
])

export const ConnectedCounts = Type.Object({ readers: Type.Integer(), sleepers: Type.Integer() })
export const Summary = Type.Object({
  /** Different views of the sockets that read; there should be one. */
  views: Type.Array(Type.String()),
  faults: Type.Integer(),
  closed: Type.Integer(),
  /** Number of deliveries by milliseconds between answer and frame. */
  latencies: Type.Array(Type.Integer()),
})
/** Close codes of the sockets that did not read. */
export const Codes = Type.Object({ codes: Type.Array(Type.Union([Type.Integer(), Type.Null()])) })
export const Disconnected = Type.Object({})
