import { Type } from '@sinclair/typebox'

/** What the processes with the listeners of a room are asked for, and what they answer. */
export const ClientJob = Type.Union([
  Type.Object({
    do: Type.Literal('connect'),
    port: Type.Integer(),
    room: Type.String(),
    tokens: Type.Array(Type.String()),
    /** One in so many does not read; 0: all do. */
    sleeperIn: Type.Integer(),
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

export const Gathered = Type.Object({ awake: Type.Integer(), asleep: Type.Integer() })
export const Summary = Type.Object({
  /** Different views of those who read; one, if all is well. */
  views: Type.Array(Type.String()),
  faults: Type.Integer(),
  closed: Type.Integer(),
  /** Deliveries by the milliseconds from the answer to the frame. */
  latencies: Type.Array(Type.Integer()),
})
/** Close codes of those who did not read. */
export const Codes = Type.Object({ codes: Type.Array(Type.Union([Type.Integer(), Type.Null()])) })
export const Left = Type.Object({})
