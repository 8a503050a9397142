import { integer, micros, nullable, text } from './columns.ts'
import type { EventWithoutMovements } from './event.ts'
import type { Evolver } from './evolve.ts'
import { keyOf, projection } from './projection.ts'
import type { State, WritableState } from './state.ts'

/**
 * The ledger's present life. It begins with the first event and, after commits were lost, again with `ledger-restored`:
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

export const lostCommitsKey = keyOf(lostCommits, 1)

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
