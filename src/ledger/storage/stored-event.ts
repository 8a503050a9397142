import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { ClientBase, Pool } from 'pg'
import { type EventData, type EventType, eventTypes } from '../../../schema/events.ts'
import { missingColumn, type PositionedEvent, UnreadableEvent } from '../rules/event.ts'
import type { LedgerEntry, StoredEvent } from './event-hash.ts'
import { unpackData, unpackId, unpackMovements } from './packed-columns.ts'
import { asText, type TextRow } from './row-table.ts'

/** How an event's columns are selected, each as text; the time in UTC, whatever the session's zone. */
const columns = {
  position: 'e.position::text',
  type: 'e.type',
  version: 'e.version::text',
  data: 'e.data',
  movements: 'e.movements',
  actor: 'e.actor',
  at: `(e.at at time zone 'UTC')::text`,
  request_id: `encode(e.request_id, 'hex')`,
  idempotency_key: `encode(e.idempotency_key, 'hex')`,
  reply_hash: `encode(e.reply_hash, 'hex')`,
  hash: `encode(e.hash, 'hex')`,
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
  const [type, version] = [text('type'), Number(text('version'))]
  const key = row['idempotency_key'] ?? null
  return {
    position: Number(text('position')),
    type,
    version,
    data: unpackData(type, version, text('data')),
    movements: unpackMovements(text('movements')),
    actor: text('actor'),
    at: parseMicros(text('at')),
    requestId: unpackId(Buffer.from(text('request_id'), 'hex')),
    idempotencyKey: key === null ? null : unpackId(Buffer.from(key, 'hex')),
    replyHash: row['reply_hash'] ?? null,
    hash: text('hash'),
  }
}

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
type EventFields = Pick<LedgerEntry, 'position' | 'type' | 'version' | 'movements' | 'at'>

/** The event of a row, with the row. Throws as `parseEvent`. */
export const parseStoredEvent = (entry: LedgerEntry): StoredEvent => ({
  ...parseEvent(entry, () => JSON.parse(entry.data)),
  entry,
})

/**
 * The event of a row, with the data that `parse` answers. Throws `UnreadableEvent` instead of skipping what this version does
 * not understand.
 */
export function parseEvent(
  { position, type, version, movements, at }: EventFields,
  parse: () => unknown,
): PositionedEvent {
  if (!isKnown(type, version)) {
    throw new UnreadableEvent(`event ${position} is ${type} version ${version}, which this version does not know`)
  }
  const data = parse()
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
export async function eventsAfter(
  db: Pick<ClientBase, 'query'>,
  after: number,
  limit: number,
): Promise<readonly StoredEvent[]> {
  const { rows } = await db.query<TextRow>({
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
