import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { Pool } from 'pg'
import { type EventData, type EventType, eventTypes } from '../../../schema/events.ts'
import type { Movement } from '../rules/account.ts'
import { missingColumn, type PositionedEvent, UnreadableEvent } from '../rules/event.ts'
import type { LedgerEntry, StoredEvent } from './event-hash.ts'
import { asText, type TextRow } from './row-table.ts'

/** How an event's columns are selected, each as text; the time in UTC, whatever the session's zone. */
const columns = {
  position: 'e.position::text',
  type: 'e.type',
  version: 'e.version::text',
  data: 'e.data',
  debit: 'e.debit::text',
  credit: 'e.credit::text',
  amount: 'e.amount::text',
  actor: 'e.actor',
  at: `(e.at at time zone 'UTC')::text`,
  request_id: 'e.request_id',
  idempotency_key: 'e.idempotency_key',
  reply_hash: 'e.reply_hash',
  hash: 'e.hash',
} as const

/** A row of `eventColumns`; all null where an outer join found no event. */
export type EventRow = { readonly [Name in keyof typeof columns]: string | null }

/** An event's columns as text, for `select ${eventColumns} from ledger_events e`. */
export const eventColumns = Object.entries(columns)
  .map(([name, text]) => `${text} as ${name}`)
  .join(', ')

/** Parses a row without validating it. Throws `UnreadableEvent` for a missing column. */
export function parseEntry(row: TextRow): LedgerEntry {
  const text = (column: keyof typeof columns): string => row[column] ?? missingColumn(row['position'] ?? null, column)
  return {
    position: Number(text('position')),
    type: text('type'),
    version: Number(text('version')),
    data: text('data'),
    movements: parseMovements(text('debit'), text('credit'), text('amount')),
    actor: text('actor'),
    at: parseMicros(text('at')),
    requestId: text('request_id'),
    idempotencyKey: row['idempotency_key'] ?? null,
    replyHash: row['reply_hash'] ?? null,
    hash: text('hash'),
  }
}

/** Parses three arrays in PostgreSQL's text form; account names need no quotes there. */
function parseMovements(debits: string, credits: string, amounts: string): Movement[] {
  if (debits === '{}') return []
  const credit = splitArray(credits)
  const amount = splitArray(amounts)
  return splitArray(debits).map((debit, i) => ({ debit, credit: credit[i] ?? '', amount: Number(amount[i]) }))
}

const splitArray = (array: string): string[] => array.slice(1, -1).split(',')

let lastText = ''
let lastMicros = Number.NaN

/** Parses `2026-11-21 08:00:00.123456`. Throws `UnreadableEvent`. */
function parseMicros(text: string): number {
  // All events of a batch have one time.
  if (text !== lastText) {
    const [, day, time, fraction = ''] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?$/.exec(text) ?? []
    if (day === undefined) throw new UnreadableEvent(`${text} is not the time of an event`)
    lastMicros = Date.parse(`${day}T${time}Z`) * 1000 + Number(fraction.padEnd(6, '0'))
    lastText = text
  }
  return lastMicros
}

/** The columns that make the event. */
export type EventFields = Pick<LedgerEntry, 'position' | 'type' | 'version' | 'data' | 'movements' | 'at'>

/** The event of a row, with the row. Throws as `parseEvent`. */
export const parseStoredEvent = (entry: LedgerEntry): StoredEvent => ({ ...parseEvent(entry), entry })

/** The event of a row. Throws `UnreadableEvent` instead of skipping what this version does not understand. */
export function parseEvent(fields: EventFields): PositionedEvent {
  const { position, type, version, data: text, movements, at } = fields
  if (!isKnown(type, version)) {
    throw new UnreadableEvent(`event ${position} is ${type} version ${version}, which this version does not know`)
  }
  const data: unknown = JSON.parse(text)
  if (!isDataOf(type, data)) throw new UnreadableEvent(`event ${position} does not match the schema of ${type}`)
  const event = { type, data, movements, position, at }
  // TypeScript does not tie `type` to `data` across the union; `isDataOf` has just checked it.
  return event as unknown as PositionedEvent
}

/** Whether this version of the program reads events of a type and version. */
export const isKnown = (type: string, version: number): type is EventType =>
  isEventType(type) && version === eventTypes[type].version

const isEventType = (type: string): type is EventType => Object.hasOwn(eventTypes, type)

const checks = new Map<EventType, TypeCheck<TSchema>>()

function isDataOf<T extends EventType>(type: T, data: unknown): data is EventData<T> {
  let check = checks.get(type)
  if (check === undefined) checks.set(type, (check = TypeCompiler.Compile<TSchema>(eventTypes[type].data)))
  return check.Check(data)
}

/** At most `limit` events after a position, in order. */
export async function eventsAfter(pool: Pool, after: number, limit: number): Promise<readonly StoredEvent[]> {
  const { rows } = await pool.query<TextRow>({
    name: 'events after',
    text: `select ${eventColumns} from ledger_events e where e.position > $1 order by e.position limit $2`,
    values: [after, limit],
    types: asText,
  })
  return rows.map((row) => parseStoredEvent(parseEntry(row)))
}

/** The events at these positions, in order. */
export async function eventsAt(pool: Pool, positions: readonly number[]): Promise<readonly StoredEvent[]> {
  if (positions.length === 0) return []
  const { rows } = await pool.query<TextRow>({
    name: 'events at',
    text: `select ${eventColumns} from ledger_events e where e.position = any ($1::bigint[]) order by e.position`,
    values: [positions],
    types: asText,
  })
  return rows.map((row) => parseStoredEvent(parseEntry(row)))
}
