import type { EventType } from '../../schema/events.ts'
import type { Evolver, PlacedEvent, WritableState } from './decider.ts'
import { applyMovements, checkHolds } from './movement.ts'

/** Folds one event into the rows it changes. */
export type Evolve = (state: WritableState, event: PlacedEvent) => void

/**
 * The meaning of every event: its movements on the balances, then what each slice makes of it. Only then must what is
 * on hold be there: an event may spend it and let it go.
 */
export function evolveWith(evolvers: readonly Evolver[]): Evolve {
  return (state, event) => {
    applyMovements(state, event.movements)
    for (const evolver of evolvers) dispatch(evolver, state, event)
    checkHolds(state, event.movements)
  }
}

function dispatch<T extends EventType>(evolver: Evolver, state: WritableState, event: PlacedEvent<T>): void {
  const type: T = event.type
  evolver[type]?.(state, event)
}
