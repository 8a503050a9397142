import { type Static, Type } from '@sinclair/typebox'
import { ProcessLoad } from '../service/process-load.ts'

/** Requests to the processes of clients of this part, and their answers. */

export const BIG_ROOM = 1
export const FIRST_SMALL_ROOM = 2
export const SOCKETS_OF_SMALL_ROOM = 100

/** To the process with the sockets of the big room, which reads and discards. */
export const DrainJob = Type.Union([
  Type.Object({ do: Type.Literal('connect'), port: Type.Integer(), sockets: Type.Integer() }),
  Type.Object({ do: Type.Literal('count') }),
])
export const Drained = Type.Object({
  /** The fewest and the most bytes that a socket has received so far. */
  fewest: Type.Integer(),
  most: Type.Integer(),
  closed: Type.Integer(),
})

/** To the process with the sockets of the small rooms, which sends all gifts and measures. */
export const MeterJob = Type.Union([
  Type.Object({
    do: Type.Literal('connect'),
    port: Type.Integer(),
    /** The number of its first user, after those of the big room. */
    firstSocket: Type.Integer(),
    rooms: Type.Integer(),
  }),
  Type.Object({
    do: Type.Literal('measure'),
    port: Type.Integer(),
    rooms: Type.Integer(),
    seconds: Type.Number(),
    /** Events in the big room. */
    bigPerSecond: Type.Number(),
  }),
])

/** Milliseconds. */
const Latency = Type.Object({ p50: Type.Number(), p99: Type.Number() })
export const Turn = Type.Object({
  /** From the answer to a gift in a small room until a socket, and the last socket, of the room has its frame. */
  frame: Latency,
  lastFrame: Latency,
  gift: Latency,
  wallet: Latency,
  /** From the answer to a gift in the big room until its last socket has the frame; null without such gifts. */
  bigFrame: Type.Union([Latency, Type.Null()]),
  /** Frames of small rooms that had not come when the turn ended. */
  missing: Type.Integer(),
  /** Frames out of order or after a gap, and closed sockets, since they were opened. */
  faults: Type.Integer(),
  /** Gifts and wallets that were not answered with 200. */
  failed: Type.Integer(),
  load: ProcessLoad,
})
export type Turn = Static<typeof Turn>
export const Connected = Type.Object({})
