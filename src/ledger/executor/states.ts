// The states of long-lived objects, and those that may follow each. README.md of the ledger says what holds in them.

/** Throws on a transition that the table does not have: a bug of the program, not a condition to handle. */
export function assertTransition<State extends string>(transitions: Transitions<State>, from: State, to: State): void {
  if (!transitions[from].includes(to)) throw new Error(`illegal transition from ${from} to ${to}`)
}

/** For each state of a long-lived object, the states that may follow it. */
type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>

/** What the executor is doing; batches may be in flight in any state but `closed`. */
export type Activity = 'idle' | 'dispatching' | 'recovering' | 'closed'

export const activities: Transitions<Activity> = {
  idle: ['dispatching', 'recovering', 'closed'],
  dispatching: ['idle'],
  recovering: ['idle'],
  closed: [],
}

/**
 * `failed` batches wait for recovery, which resolves them. Callers have their results once `committed` or `resolved`.
 */
export type BatchState = 'in flight' | 'committed' | 'failed' | 'resolved'

export const batchStates: Transitions<BatchState> = {
  'in flight': ['committed', 'failed'],
  committed: [],
  failed: ['resolved'],
  resolved: [],
}

/**
 * What the store knows of the head:
 * - `unknown`: the head may be anywhere; the next batch locks it.
 * - `cached`: `#cachedHead` is where the head will be once everything in flight has committed.
 * - `deciding`: a batch is open; no other may be opened before it is committed, finished or reset.
 */
export type StoreState = 'unknown' | 'cached' | 'deciding'

export const storeStates: Transitions<StoreState> = {
  unknown: ['deciding', 'cached', 'unknown'],
  cached: ['deciding', 'unknown'],
  deciding: ['cached', 'unknown'],
}
