import type { Refusals } from '../http/errors/refusals.ts'
import type { Evolver } from '../ledger/rules/event.ts'
import type { RowTable } from '../ledger/storage/row-table.ts'
import type { NotificationMapper } from '../notifications/event-notification.ts'

/** What a slice is made of. Loads no routes, frames or reads: audits need only this. */
export interface Model {
  /** What events mean for the slice's rows, events of other slices included. */
  readonly evolvers: readonly Evolver[]
  /** Whom its events tell what. */
  readonly notifications?: NotificationMapper
  /** The tables that the executor keeps of those rows. */
  readonly tables: readonly RowTable[]
  /** Its own refusal codes; those it shares with others are in `shared-refusals.ts`. */
  readonly refusals: Refusals
}
