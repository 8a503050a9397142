import type { Kysely } from 'kysely'
import type { MonthClosing } from '../../../schema/closings.ts'
import { readEventTime } from '../../audit/reports/period.ts'
import type { Tables } from '../../db/tables.ts'
import { nextMonth } from '../../features/closings/closing.ts'
import { newestClosings } from '../../features/closings/reads.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { codeCell, numberCell, statusCell, textCell, timeCell } from '../layout/cells.ts'
import { actorCell } from '../layout/links.ts'
import { numberPart, part, partTable, type Table } from '../lists/list.ts'

/** Closed months on a page, and open ones. */
const PAGE_MONTHS = 24

/** A month of the list: closed, the next one to close, over but not the next one, or not over. */
type MonthRow =
  | { readonly state: 'closed'; readonly month: string; readonly closing: MonthClosing }
  | { readonly state: 'next' | 'later' | 'not over'; readonly month: string; readonly todo: string }

export interface Months {
  readonly table: Table
  /** What to do now; null where there is nothing to say. */
  readonly advice: string | null
  /** The page of the month to close next; null while there is none. */
  readonly nextHref: string | null
  /** Closed months that are older; null at the end. */
  readonly olderHref: string | null
}

export const monthPath = (month: string): string => `/console/reports/${month}`

/** When a month can be closed, as people read it. */
export const closesFrom = (month: string): string => `${nextMonth(month)}-01 00:00:00 UTC`

/** Months from the newest on; `before` is the position of the closing at which the page before ended. */
export async function readMonths(db: Kysely<Tables>, before: number | null, now: string): Promise<Months> {
  const closings = await newestClosings(db, PAGE_MONTHS, before)
  const open = before === null ? await openMonths(db, closings[0] ?? null, now) : []
  const next = open.at(-1)
  const isDue = next?.state === 'next'
  const rows: MonthRow[] = [
    ...open,
    ...closings.map((closing) => ({ state: 'closed' as const, month: closing.month, closing })),
  ]
  const oldest = closings.at(-1)
  return {
    table: showMonths(rows),
    advice: isDue || before !== null ? null : adviceOf(next, closings.length > 0),
    nextHref: isDue ? monthPath(next.month) : null,
    olderHref: closings.length === PAGE_MONTHS && oldest ? `/console/reports?before=${oldest.id}` : null,
  }
}

/** Months that are over and not closed. */
export interface MonthsToClose {
  readonly count: number
  /** The one to close first, which may not be over; null while nothing has happened. */
  readonly next: string | null
}

export async function readMonthsToClose(db: Kysely<Tables>, now: string): Promise<MonthsToClose> {
  const [last = null] = await newestClosings(db, 1)
  const next = await monthAfter(db, last)
  return { count: next === null ? 0 : Math.max(0, monthNumber(now) - monthNumber(next)), next }
}

/** The number of `2026-10` and what begins so; later months have greater ones. */
const monthNumber = (iso: string): number => Number(iso.slice(0, 4)) * 12 + Number(iso.slice(5, 7))

/** The month to close after that one; without one, the month of the first event. */
async function monthAfter(db: Kysely<Tables>, last: MonthClosing | null): Promise<string | null> {
  if (last !== null) return nextMonth(last.month)
  const firstAt = await readEventTime(db, 1)
  return firstAt === null ? null : isoMicros(firstAt).slice(0, 7)
}

/** From the newest on; the last one is the next to close. */
async function openMonths(db: Kysely<Tables>, last: MonthClosing | null, now: string): Promise<MonthRow[]> {
  const next = await monthAfter(db, last)
  if (next === null) return []
  const current = now.slice(0, 7)
  const rows: MonthRow[] = []
  for (let month = next; month <= current && rows.length < PAGE_MONTHS; month = nextMonth(month)) {
    if (month === current) {
      rows.unshift({ state: 'not over', month, todo: `Can be closed from ${closesFrom(month)} on.` })
    } else if (month === next) rows.unshift({ state: 'next', month, todo: 'It is over: run its steps, and record it.' })
    else rows.unshift({ state: 'later', month, todo: `Close ${next} first.` })
  }
  return rows
}

function adviceOf(next: MonthRow | undefined, hasClosed: boolean): string {
  if (next === undefined)
    return 'Nothing has happened yet. Once there are events, the month of the first one is closed here when it is over.'
  const which = hasClosed ? 'All months that are over are closed.' : 'The first month is not over.'
  return `${which} ${next.month} can be closed from ${closesFrom(next.month)} on. Until then, the trial balance below and a verification show whether the books are right.`
}

const showMonths = (rows: readonly MonthRow[]): Table =>
  partTable<MonthRow>({
    label: 'Months',
    empty: 'There is no month to close yet.',
    rows,
    columns: [
      part('Month', ({ month }) => codeCell(month, monthPath(month))),
      part('State', ({ state }) =>
        state === 'closed'
          ? statusCell('closed', 'good')
          : state === 'next'
            ? statusCell('to be closed', 'waiting')
            : statusCell(state === 'later' ? 'over' : 'not over'),
      ),
      part('Events', (row) =>
        textCell(row.state === 'closed' ? eventsOf(row.closing.first_position, row.closing.position) : row.todo),
      ),
      numberPart('Files', (row) => numberCell(row.state === 'closed' ? row.closing.files.length : null)),
      part('Closed by', (row) => actorCell(row.state === 'closed' ? row.closing.closed_by : null)),
      part('Closed', (row) => timeCell(row.state === 'closed' ? row.closing.closed_at : null)),
    ],
  })

/** `12 to 48` */
export const eventsOf = (first: number, last: number): string => (last < first ? 'none' : `${first} to ${last}`)
