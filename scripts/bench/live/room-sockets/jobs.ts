import { type Static, Type } from '@sinclair/typebox'
import { ProcessLoad } from '../service/process-load.ts'

/** Requests to a process with sockets in rooms, and its answers. Times by `clock`. */

/** A room with events: those that the ledger has. */
export const RoomEvents = Type.Object({
  uid: Type.String(),
  events: Type.Integer(),
  last: Type.Integer(),
  sum: Type.Integer(),
})
export type RoomEvents = Static<typeof RoomEvents>

export const SocketsJob = Type.Union([
  Type.Object({
    do: Type.Literal('connect'),
    port: Type.Integer(),
    localAddress: Type.String(),
    takesBatches: Type.Boolean(),
    /** The user and the room of each socket. */
    seats: Type.Array(Type.Tuple([Type.Integer(), Type.Integer()])),
  }),
  /** Before a fault: counts anew, and connects there from now on. */
  Type.Object({ do: Type.Literal('watch'), port: Type.Integer() }),
  /** Waits until all sockets are live again after `since`. */
  Type.Object({ do: Type.Literal('await-live'), since: Type.Number(), timeoutMs: Type.Integer() }),
  /** Waits until all sockets have the last event of their room, and compares them with the ledger. */
  Type.Object({ do: Type.Literal('compare'), rooms: Type.Array(RoomEvents) }),
])
export const Done = Type.Object({})
export const Returned = Type.Object({
  /** When each socket had `ready`, and when it was live again. */
  readyAt: Type.Array(Type.Number()),
  liveAt: Type.Array(Type.Number()),
  missing: Type.Integer(),
  /** Attempts that nobody listened to, that were not ready in time, answered 503, or closed with 4100. */
  refused: Type.Integer(),
  timedOut: Type.Integer(),
  busy: Type.Integer(),
  sentAway: Type.Integer(),
  /** Channels that were refused with `retry`. */
  retried: Type.Integer(),
  load: ProcessLoad,
})
export type Returned = Static<typeof Returned>
/** Since the sockets were opened. */
export const Compared = Type.Object({
  /** Sockets whose events are not those of the ledger. */
  different: Type.Integer(),
  /** Frames that came twice or out of order on one connection, or before all that they follow. */
  faults: Type.Integer(),
  /** How often which refusal, status or close code came that should not. */
  unexpected: Type.Array(Type.Tuple([Type.String(), Type.Integer()])),
  notResumed: Type.Integer(),
})
export type Compared = Static<typeof Compared>
