import type { Kysely } from 'kysely'
import { micros } from '../../db/queries/micros.ts'
import type { Tables } from '../../db/tables.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { auditMessages } from '../messages.ts'
import type { AsOf } from './as-of.ts'
import { InvalidQuery } from './query-context.ts'

/** A range of positions, both included; `last` = `first` - 1 when it is empty. */
export interface Period {
  readonly first: number
  readonly last: number
}

export interface PeriodQuery {
  /** Null: from the beginning. */
  readonly from: AsOf | null
  /** Null: up to now. */
  readonly to: AsOf | null
}

/**
 * The positions of a period of a ledger that ends at `head`. All events of a transaction have the same time, so no time
 * separates them. Throws InvalidQuery for a position beyond the head, and for an end before the start.
 */
export async function resolvePeriod(db: Kysely<Tables>, { from, to }: PeriodQuery, head: number): Promise<Period> {
  if (from !== null && to !== null && 'begins' in from && 'begins' in to && from.begins > to.ends)
    throw endsBeforeStart()
  const last = to === null ? head : await lastPositionAsOf(db, to, head, 'to')
  if (from === null) return { first: 1, last }
  if ('position' in from) {
    if (from.position > last) throw from.position > head ? beyondHead('from', head) : endsBeforeStart()
    return { first: from.position, last }
  }
  const first = (await lastPositionUntil(db, from.begins - 1, head)) + 1
  if (first > last + 1) throw endsBeforeStart()
  return { first, last }
}

/** The last position as of a point in the ledger; 0 when the ledger began later. */
export async function lastPositionAsOf(db: Kysely<Tables>, asOf: AsOf, head: number, field: string): Promise<number> {
  if (!('position' in asOf)) return lastPositionUntil(db, asOf.ends, head)
  if (asOf.position > head) throw beyondHead(field, head)
  return asOf.position
}

/** The last event at or before a time, by binary search, as times never decrease. */
async function lastPositionUntil(db: Kysely<Tables>, time: Micros, head: number): Promise<number> {
  let low = 0
  let high = head
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const { at } = await db
      .selectFrom('ledger_events')
      .select(micros('at').as('at'))
      .where('position', '=', middle)
      .executeTakeFirstOrThrow()
    if (at <= time) low = middle
    else high = middle - 1
  }
  return low
}

const beyondHead = (field: string, head: number): InvalidQuery =>
  new InvalidQuery(field, auditMessages.ledger_end(head))
const endsBeforeStart = (): InvalidQuery => new InvalidQuery('to', auditMessages.before_from)
