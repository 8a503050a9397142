import { type Static, Type } from '@sinclair/typebox'
import { ProcessLoad } from '../service/process-load.ts'

/** Requests to the process that sends gifts and reads wallets, and its answers. Times by `clock`. */

export const LoadJob = Type.Union([
  /** `rooms`: gifts go to the rooms from 1 to this one. */
  Type.Object({ do: Type.Literal('start'), port: Type.Integer(), rooms: Type.Integer() }),
  /** New connections go there from now on. */
  Type.Object({ do: Type.Literal('move'), port: Type.Integer() }),
  /** Sends no more, and waits for the answers. */
  Type.Object({ do: Type.Literal('stop') }),
  /** On the requests that were under way between two times. */
  Type.Object({ do: Type.Literal('report'), from: Type.Number(), until: Type.Number() }),
])
export const Stopped = Type.Object({ load: ProcessLoad })
export type Stopped = Static<typeof Stopped>

export const Calls = Type.Object({
  answered: Type.Integer(),
  /** Milliseconds; 0 without answers. */
  p50: Type.Number(),
  p99: Type.Number(),
  max: Type.Number(),
  /** Answered after more than two seconds. */
  slow: Type.Integer(),
  reset: Type.Integer(),
  /** Nobody listened. */
  refused: Type.Integer(),
  /** Answered with another status than 200. */
  failed: Type.Integer(),
})
export type Calls = Static<typeof Calls>
export const LoadReport = Type.Object({
  gift: Calls,
  wallet: Calls,
  'gift, new connection': Calls,
  'wallet, new connection': Calls,
})
export type LoadReport = Static<typeof LoadReport>
export const callNames = ['gift', 'wallet', 'gift, new connection', 'wallet, new connection'] as const
export type CallName = (typeof callNames)[number]
