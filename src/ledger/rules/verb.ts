import type { FieldErrors } from '../../language/messages.ts'
import type { LedgerEvent, PositionedEvent } from './event.ts'
import type { Key, State, WritableState } from './projection.ts'
import type { Micros } from './time.ts'

/** What `decide` gets in addition to state and input. */
export interface Context {
  readonly now: Micros
  /** The position that the command's first event will have. */
  readonly position: number
  /** The caller: `user:7`, `staff:ann` or `system`. */
  readonly actor: string
}

/** A business rule forbids the command. A value, never thrown: the other commands of the batch are not affected. */
export interface Refusal<Code extends string = string> {
  readonly refusal: Code
  /** Messages for people, by input field: `{ receiver_id: ['…'] }`. */
  readonly errors?: FieldErrors
  /** What the response shows besides: how what was to be changed is now. */
  readonly data?: unknown
}

export const refuse = <const Code extends string>(refusal: Code, errors?: Refusal['errors']): Refusal<Code> =>
  errors === undefined ? { refusal } : { refusal, errors }

export const isRefusal = (decision: readonly LedgerEvent[] | Refusal): decision is Refusal => 'refusal' in decision

/**
 * One operation of the business. Every function here is pure: no I/O, no clock, no randomness. A verb that can refuse gives
 * the type of its `refusals` as `Codes`, so that `decide` cannot return another code.
 */
export interface Verb<Input, Result, Codes extends readonly string[] = readonly string[]> {
  /** The codes of all refusals, in the order of the checks; documents and routes show them. */
  readonly refusals: Codes
  /** The rows that `decide`, `result` and the evolvers of its events need; named before anything is loaded. */
  readonly reads: (input: Input) => readonly Key[]
  /**
   * Further rows that only loaded ones can name (a room's owner). Costs another round trip as long as it names rows
   * that are not loaded. Returns all it can name, loaded or not: which rows happen to be loaded varies.
   */
  readonly dependentReads?: (state: State, input: Input) => readonly Key[]
  readonly decide: (state: State, input: Input, context: Context) => readonly LedgerEvent[] | Refusal<Codes[number]>
  /** Profile data that is not part of the ledger (names, avatars), written in the same transaction. */
  readonly sideWrites?: (state: WritableState, input: Input, context: Context) => void
  /** What the caller gets; `state` is that after the events. */
  readonly result: (state: State, input: Input, events: readonly PositionedEvent[], context: Context) => Result
}
