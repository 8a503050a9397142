import { integer, text } from './columns.ts'
import type { Evolver } from './evolve.ts'
import { keyOf, projection } from './projection.ts'
import type { State } from './state.ts'

/**
 * The ledger's present life. It begins with the first event and, after commits were lost, again with `ledger-restored`:
 * positions and ids are used again then, and secrets that derive from them must not be.
 */
export const incarnations = projection('ledger_incarnation', {
  /** Always 1: there is one row. */
  one: integer(),
  /** 16 random bytes as lower-case hex. */
  incarnation: text(),
  /** Of the event that it began with. */
  position: integer(),
})

export const incarnationKey = keyOf(incarnations, 1)

/** Throws on a ledger without a first event, where nothing may be drawn. */
export function incarnationIn(state: State): string {
  const row = state.get(incarnations, '1')
  if (row === undefined) throw new Error('the ledger has no incarnation')
  return row.incarnation
}

export const evolveIncarnation: Evolver = {
  'ledger-opened': (state, { data: { incarnation }, position }) =>
    state.set(incarnations, '1', { one: 1, incarnation, position }),
}
