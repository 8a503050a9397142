import type { EventData, EventType } from '../../../schema/events.ts'
import type { Movement } from './movement.ts'
import type { Projection } from './state.ts'
import type { Micros } from './time.ts'

/** What a rule decided: one fact, not yet on the ledger. */
export type LedgerEvent<T extends EventType = EventType> = {
  [K in T]: { readonly type: K; readonly data: EventData<K>; readonly movements: readonly Movement[] }
}[T]

/** A fact in its place: `position` is its place in the one order, `at` the database's time, never going back. */
export type PlacedEvent<T extends EventType = EventType> = LedgerEvent<T> & {
  readonly position: number
  readonly at: Micros
}

/** A row that a command needs to know or that its events change. */
export interface Key {
  readonly projection: Projection<unknown>
  readonly id: string
}

/** Rows by projection and id. Reading a row that was not asked for by `reads` is a bug and throws. */
export interface State {
  get<Row>(projection: Projection<Row>, id: string): Row | undefined
  /** Whether the row was asked for, so that it may be read. */
  knows(projection: Projection<unknown>, id: string): boolean
}

export interface WritableState extends State {
  /** Writes a row, also one that was not asked for; `undefined` deletes it. */
  set<Row>(projection: Projection<Row>, id: string, row: NoInfer<Row> | undefined): void
  /** Adds to a balance and answers what it then is, where that is quicker than by its row. */
  add?(account: string, change: number | bigint): number | bigint
}

/** What comes with a command beside its input: its time, the position of its first event and who asks. */
export interface Context {
  readonly now: Micros
  readonly position: number
  /** `user:7`, `staff:ann` or `system`. */
  readonly actor: string
}

/** A business rule said no. A value, never thrown: one refusal must not touch its neighbours. */
export interface Refusal {
  readonly refusal: string
  /** Which input it is about, for people: `{ receiver_id: ['…'] }`. */
  readonly errors?: Readonly<Record<string, readonly string[]>>
}

export const refuse = (refusal: string, errors?: Refusal['errors']): Refusal =>
  errors === undefined ? { refusal } : { refusal, errors }

export const isRefusal = (decision: readonly LedgerEvent[] | Refusal): decision is Refusal => 'refusal' in decision

/** A verb of the business: what it reads, what it decides, what it tells. Everything here is pure. */
export interface Verb<Input, Answer> {
  /** Also the rows that the events change; asked before anything is known. */
  readonly reads: (input: Input) => readonly Key[]
  /**
   * Further rows that only `state` can name (a room's owner); another round trip as long as there are any. Names all
   * it can, also rows that `state` knows already: which those are is chance.
   */
  readonly follow?: (state: State, input: Input) => readonly Key[]
  readonly decide: (state: State, input: Input, context: Context) => readonly LedgerEvent[] | Refusal
  /** Words that are no facts of the ledger (names, avatars): written in the same transaction. */
  readonly note?: (state: WritableState, input: Input, context: Context) => void
  /** What the caller is told; `state` is that after the events. */
  readonly answer: (state: State, input: Input, events: readonly PlacedEvent[], context: Context) => Answer
}

/** An event without its movements, which are for balances alone. */
export type Fact<T extends EventType = EventType> = {
  [K in T]: { readonly type: K; readonly data: EventData<K>; readonly position: number; readonly at: Micros }
}[T]

/**
 * The one meaning of each event: serves deciding, projecting and replaying alike. Of balances it may look
 * at those that are watched, as `isWatched` says.
 */
export type Evolver = { readonly [T in EventType]?: (state: WritableState, event: Fact<T>) => void }
