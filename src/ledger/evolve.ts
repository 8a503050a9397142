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
  // Who means something by an event: a few of many, and it is asked millions of times in a replay.
  const concerned = new Map<EventType, readonly Evolver[]>()
  return (state, event) => {
    applyMovements(state, event.movements)
    let those = concerned.get(event.type)
    if (those === undefined) {
      those = evolvers.filter((evolver) => evolver[event.type] !== undefined)
      concerned.set(event.type, those)
    }
    for (const evolver of those) dispatch(evolver, state, event)
    checkHolds(state, event.movements)
  }
}

function dispatch<T extends EventType>(evolver: Evolver, state: WritableState, event: PlacedEvent<T>): void {
  const type: T = event.type
  evolver[type]?.(state, event)
}
