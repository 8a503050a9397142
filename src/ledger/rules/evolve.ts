import type { EventType } from '../../../schema/events.ts'
import { applyMovements, checkHolds, type Movement } from './movement.ts'
import type { Evolver, Fact, PlacedEvent, WritableState } from './verb.ts'

/** Folds one event into the rows it changes. */
export type Evolve = (state: WritableState, event: PlacedEvent) => void

/** Folds one event of whose movements only those given are of the state's balances. */
export type EvolveFact = (state: WritableState, event: Fact, moved: readonly Movement[]) => void

/**
 * The meaning of every event: its movements on the balances, then what each slice makes of it. Only then must what is
 * on hold be there: an event may spend it and let it go.
 */
export function evolveWith(evolvers: readonly Evolver[]): EvolveFact {
  // Who means something by an event: a few of many, and it is asked millions of times in a replay.
  const concerned = new Map<EventType, readonly Evolver[]>()
  return (state, event, moved) => {
    applyMovements(state, moved)
    let those = concerned.get(event.type)
    if (those === undefined) {
      those = evolvers.filter((evolver) => evolver[event.type] !== undefined)
      concerned.set(event.type, those)
    }
    for (const evolver of those) dispatch(evolver, state, event)
    checkHolds(state, moved)
  }
}

function dispatch<T extends EventType>(evolver: Evolver, state: WritableState, event: Fact<T>): void {
  const type: T = event.type
  evolver[type]?.(state, event)
}
