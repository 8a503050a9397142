import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { entriesBetween } from '../../ledger/indexes/account-entries.ts'
import { eventsWith, readIndexed } from '../../ledger/indexes/index-reads.ts'
import { accountTerm } from '../../ledger/indexes/index-terms.ts'
import { currencyOf, type Movement } from '../../ledger/rules/account.ts'
import type { StoredEvent } from '../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry, parseStoredEvent } from '../../ledger/storage/stored-event.ts'
import { amountCell } from '../layout/cells.ts'
import { accountCell, eventCell } from '../layout/links.ts'
import { numberPart, type PartColumn, part, partTable, type Table } from '../lists/list.ts'

/** The events of a query of `eventColumns`. */
export const storedEvents = (rows: readonly TextRow[]): StoredEvent[] =>
  rows.map((row) => parseStoredEvent(parseEntry(row)))

/** The events at these positions, in their order. */
export async function readEventsAt(db: Kysely<Tables>, positions: readonly number[]): Promise<StoredEvent[]> {
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from ledger_events e where e.position = any (${[...positions]}::bigint[])
    order by e.position`.execute(db)
  return storedEvents(rows)
}

/** The newest events of a type that a user caused before a position. */
export async function readNewestOf<Type extends StoredEvent['type']>(
  db: Kysely<Tables>,
  { type, user, before, limit }: { readonly type: Type; user: number; before: number; limit: number },
): Promise<Extract<StoredEvent, { type: Type }>[]> {
  // The type is written out, as partial indexes have it.
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from ledger_events e
    where e.type = ${sql.lit(type)} and e.actor = ${`user:${user}`} and e.position < ${before}
    order by e.position desc limit ${limit}`.execute(db)
  return storedEvents(rows).filter((event): event is Extract<StoredEvent, { type: Type }> => event.type === type)
}

/** Where an account moves that begins at an event: by its index, and after the end of that by the events themselves. */
export async function positionsOf(
  db: Kysely<Tables>,
  account: string,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<readonly number[]> {
  const positions: number[] = []
  const indexed = await readIndexed(db)
  for await (const { events } of eventsWith(
    db,
    [accountTerm(account)],
    { first, last: Math.min(last, indexed) },
    'oldest',
  ))
    positions.push(...events.map(({ position }) => position))
  const later = await entriesBetween(db, [account], Math.max(indexed, first - 1), last)
  return [...positions, ...later.map(({ position }) => position)]
}

/** From which account to which one, and how much. */
export const movementColumns: readonly PartColumn<Movement>[] = [
  part('From', ({ debit }) => accountCell(debit)),
  part('To', ({ credit }) => accountCell(credit)),
  numberPart('Amount', ({ debit, amount }) => amountCell(currencyOf(debit), amount)),
]

interface Movements {
  readonly label: string
  readonly empty: string
  /** Each with the event that has it. */
  readonly rows: readonly (Movement & { readonly position: number })[]
}

/** Movements of one event or several, as a part of a page. */
export const movementsTable = ({ label, empty, rows }: Movements): Table =>
  partTable<Movements['rows'][number]>({
    label,
    empty,
    columns: [...movementColumns, part('Event', ({ position }) => eventCell(position))],
    rows,
  })
