import type { EventData, EventType } from '../../../schema/events.ts'
import { applyMovements, checkHolds, type Movement } from './account.ts'
import type { WritableState } from './projection.ts'
import type { Micros } from './time.ts'

/** What a verb decided; not yet on the ledger. */
export type LedgerEvent<T extends EventType = EventType> = {
  [K in T]: {
    readonly type: K
    readonly data: EventData<K>
    readonly movements: readonly Movement[]
    /** Who asked for it, where that is not the caller: the maker of a proposal that the caller approves. */
    readonly actor?: string
  }
}[T]

/** An event with its position in the one global order and the database's time, which never goes back. */
export type PositionedEvent<T extends EventType = EventType> = LedgerEvent<T> & {
  readonly position: number
  readonly at: Micros
}

/** What evolvers see of an event: everything but its movements, which concern balances alone. */
export type EventWithoutMovements<T extends EventType = EventType> = {
  [K in T]: { readonly type: K; readonly data: EventData<K>; readonly position: number; readonly at: Micros }
}[T]

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

/** A stored event that cannot be read: of an unknown type or version, or with data that does not match its schema. */
export class UnreadableEvent extends Error {}

/** Throws `UnreadableEvent`. */
export function missingColumn(position: string | number | null, column: string): never {
  throw new UnreadableEvent(`event ${position} has no ${column}`)
}
