import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'

/**
 * State that users receive on their own channel whenever it changes. Only the newest state is sent; it has no place in
 * the channel's history and is no part of a backlog.
 */
export interface LiveQuery {
  /** The event's name on the wire. */
  readonly event: string
  /** The users whose state a ledger event may have changed. Pure. */
  readonly changedBy: (event: PositionedEvent) => readonly number[]
  /**
   * Reads the current state of these users; addresses of pictures begin with `assetBaseUrl`. Users missing from the
   * result are sent nothing.
   */
  readonly read: (
    db: Kysely<Tables>,
    userIds: readonly number[],
    assetBaseUrl: string,
  ) => Promise<ReadonlyMap<number, object>>
}
