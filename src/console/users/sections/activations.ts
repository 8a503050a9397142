import { Type } from '@sinclair/typebox'
import { type Kysely, sql } from 'kysely'
import type { EventData } from '../../../../schema/events.ts'
import type { Tables } from '../../../db/tables.ts'
import { packageNames } from '../../../features/privilege/reads.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry, parseStoredEvent } from '../../../ledger/storage/stored-event.ts'
import { type Cell, numberCell, textCell, timeCell } from '../../frame/cells/cells.ts'
import { eventCell, eventPath } from '../../frame/cells/links.ts'
import type { List } from '../../lists/list.ts'
import { userIdIn } from '../user/find-user.ts'
import { defineUserSection } from '../user/user-section.ts'
import { beforeOf, pageOfRows } from './next-page.ts'

/** An activation, and what it did, which the event after it says. */
interface Activation {
  readonly position: number
  readonly at: Micros
  readonly card: EventData<'card-activated'>
  readonly packageName: string
  readonly effect: Effect | null
}

interface Effect {
  readonly days: number
  /** Seconds since 1970. */
  readonly validUntil: number
  readonly replaced: boolean
}

const filters = Type.Object({})

const activations: List<typeof filters, Activation> = {
  label: 'Activated cards',
  filters,
  empty: 'No card has been activated by this user. Cards that wait to be are under “Stored cards”.',
  columns: [
    { name: 'at', title: 'Activated', cell: ({ at, position }) => timeCell(at, eventPath(position)) },
    {
      name: 'card_id',
      title: 'Card',
      cell: ({ card }) => eventCell(card.card_id),
    },
    { name: 'package', title: 'Package', cell: ({ packageName }) => textCell(packageName) },
    { name: 'card_days', title: 'Days of the card', isNumber: true, cell: ({ card }) => numberCell(card.valid_days) },
    { name: 'days_added', title: 'Days added', isNumber: true, cell: ({ effect }) => numberCell(effect?.days) },
    { name: 'effect', title: 'Effect', cell: ({ effect }) => textCell(effectText(effect)) },
    { name: 'valid_until', title: 'Valid until', cell: ({ effect }) => validUntilCell(effect?.validUntil) },
  ],
  read: async ({ db, at, cursor, limit }, request) => {
    // The literals are those of the partial index.
    const { rows } = await sql<TextRow>`
      select ${sql.raw(eventColumns)} from ledger_events e
      where e.type = 'card-activated' and e.actor = ${`user:${userIdIn(request.params)}`}
        and e.position < ${beforeOf(cursor, at)}
      order by e.position desc limit ${limit + 1}`.execute(db)
    return pageOfRows(await withEffects(db, rows.map(parseEntry)), limit, ({ position }) => position)
  },
}

const effectText = (effect: Effect | null): string | null =>
  effect === null ? null : effect.replaced ? 'replaced the privilege' : 'added days'

/** A time in seconds since 1970. */
export const validUntilCell = (seconds: number | undefined): Cell =>
  timeCell(seconds === undefined ? null : seconds * 1_000_000)

async function withEffects(db: Kysely<Tables>, entries: readonly LedgerEntry[]): Promise<Activation[]> {
  const activated = entries.map(parseStoredEvent).filter((event) => event.type === 'card-activated')
  if (activated.length === 0) return []
  const after = activated.map(({ position }) => position + 1)
  const ids = [...new Set(activated.map(({ data }) => data.privilege_package_id))]
  const [{ rows }, names] = await Promise.all([
    sql<TextRow>`
      select ${sql.raw(eventColumns)} from ledger_events e where e.position = any (${after}::bigint[])`.execute(db),
    packageNames(db, ids),
  ])
  const effects = new Map(rows.map((row) => [Number(row['position']), effectOf(parseEntry(row))]))
  return activated.map(({ position, at, data }) => ({
    position,
    at,
    card: data,
    packageName: names.get(data.privilege_package_id)?.name ?? '',
    effect: effects.get(position + 1) ?? null,
  }))
}

function effectOf(entry: LedgerEntry): Effect | null {
  const { type, data } = parseStoredEvent(entry)
  if (type !== 'privilege-days-added' && type !== 'privilege-replaced') return null
  return { days: data.days, validUntil: data.valid_until, replaced: type === 'privilege-replaced' }
}

export const activationsSection = defineUserSection({ path: 'activations', title: 'Activated cards' }, activations)
