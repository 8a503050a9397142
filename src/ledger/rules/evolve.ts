import type { EventType } from '../../../schema/events.ts'
import type { EventWithoutMovements, Movement, PositionedEvent } from './event.ts'
import { applyMovements, checkHolds } from './movement.ts'
import type { WritableState } from './state.ts'

/**
 * The one meaning of each event, used alike for deciding, projecting and replaying. Of the balances it may read those
 * that `isReadByEvolvers` names.
 */
export type Evolver = { readonly [T in EventType]?: (state: WritableState, event: EventWithoutMovements<T>) => void }

/** Folds one event into the rows that it changes. */
export type Evolve = (state: WritableState, event: PositionedEvent) => void

/** As `Evolve`, with the movements given apart: a replay leaves out those of balances that it keeps elsewhere. */
export type EvolveWithMovements = (
  state: WritableState,
  event: EventWithoutMovements,
  movements: readonly Movement[],
) => void

/**
 * Applies an event's movements to the balances, then calls every evolver that handles it. Holds are checked last: an
 * event may release a hold and spend it.
 */
export function combineEvolvers(evolvers: readonly Evolver[]): EvolveWithMovements {
  // Few of the evolvers handle any one type, and a replay asks millions of times.
  const evolversOf = new Map<EventType, readonly Evolver[]>()
  return (state, event, movements) => {
    applyMovements(state, movements)
    let handlers = evolversOf.get(event.type)
    if (handlers === undefined) {
      handlers = evolvers.filter((evolver) => evolver[event.type] !== undefined)
      evolversOf.set(event.type, handlers)
    }
    for (const evolver of handlers) dispatch(evolver, state, event)
    checkHolds(state, movements)
  }
}

function dispatch<T extends EventType>(evolver: Evolver, state: WritableState, event: EventWithoutMovements<T>): void {
  const type: T = event.type
  evolver[type]?.(state, event)
}
