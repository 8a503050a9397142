import type { EventData } from '../../../schema/events.ts'
import type { EventWithoutMovements, Evolver } from './event.ts'
import {
  boolean,
  integer,
  keyOf,
  micros,
  nullable,
  projection,
  type State,
  text,
  type WritableState,
} from './projection.ts'
import type { Verb } from './verb.ts'

/**
 * The ledger's current life. It begins with the first event and, after commits were lost, again with `ledger-restored`:
 * positions and ids are used again then, and secrets that derive from them must not be.
 */
export const incarnations = projection('ledger_incarnation', {
  /** Always 1: there is one row. */
  one: integer(),
  /** 16 random bytes as lower-case hex. */
  incarnation: text(),
  /** The position of the event that it began with: 1, unless commits were lost. */
  position: integer(),
  /** The time of that event. */
  began_at: micros(),
})

export const incarnationKey = keyOf(incarnations, 1)

/** What somebody noticed of commits that were lost; nothing is written while there is a row. No part of the ledger. */
export const lostCommits = projection('lost_commits', {
  /** Always 1: there is at most one row. */
  one: integer(),
  /** The incarnation that begins with `ledger-restored`. */
  incarnation: text(),
  reason: text(),
  /** The last event that is known to have been committed; null where nobody knows. */
  position: nullable(integer()),
  hash: nullable(text()),
  /** The last position of the ledger when it was noticed. */
  ended_at: integer(),
  noticed_at: micros(),
})

const lostCommitsKey = keyOf(lostCommits, 1)

/**
 * Until when time has really passed, which instances advance twice a minute: it follows a clock that jumps ahead slowly. No
 * part of the ledger.
 */
export const passedTime = projection('passed_time', {
  /** Always true: there is one row. */
  only_row: boolean(),
  at: micros(),
})

/** As PostgreSQL writes `true`. */
export const passedTimeKey = keyOf(passedTime, 't')

/** Throws on a ledger without a first event, where nothing may be drawn. */
export function incarnationIn(state: State): string {
  const row = state.get(incarnations, '1')
  if (row === undefined) throw new Error('the ledger has no incarnation')
  return row.incarnation
}

const begin = (
  state: WritableState,
  { data: { incarnation }, position, at }: EventWithoutMovements<'ledger-opened' | 'ledger-restored'>,
): void => state.set(incarnations, '1', { one: 1, incarnation, position, began_at: at })

export const evolveIncarnation: Evolver = { 'ledger-opened': begin, 'ledger-restored': begin }

/**
 * Writes the first event, which names the ledger's incarnation and commits to the fairness key by its SHA-256. Does nothing
 * on a ledger that has one.
 */
export const genesis: Verb<EventData<'ledger-opened'>, null> = {
  refusals: [],
  reads: () => [],
  decide: (_state, { fairness_key, incarnation }, { position }) =>
    position === 1 ? [{ type: 'ledger-opened', data: { fairness_key, incarnation }, movements: [] }] : [],
  result: () => null,
}

/**
 * Begins an incarnation, because commits were lost before this command, and with it lifts the ban on writing that
 * `recordLostCommits` imposed. Does nothing where it has begun already, so that a command whose outcome is unknown can be
 * repeated. Never refused.
 */
export const recordRestore: Verb<EventData<'ledger-restored'>, null> = {
  refusals: [],
  reads: () => [incarnationKey, lostCommitsKey],
  decide: (state, { incarnation, reason, last_known }) =>
    incarnation === incarnationIn(state)
      ? []
      : [{ type: 'ledger-restored', data: { incarnation, reason, last_known }, movements: [] }],
  sideWrites: (state, { incarnation }) => {
    if (state.get(lostCommits, '1')?.incarnation === incarnation) state.set(lostCommits, '1', undefined)
  },
  result: () => null,
}
