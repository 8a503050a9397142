import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type EventData, type EventType, eventTypes } from '../../schema/events.ts'
import type { ChainedEntry, RecordedEvent } from './chain.ts'
import type { Movement } from './movement.ts'
import type { TextRow } from './row-table.ts'

/** What is on the ledger cannot be read: an unknown event or version, or data that is not of its form. */
export class Unreadable extends Error {}

/** Columns of an event, as text; for `select ${eventColumns} from ledger_events e`. */
export const eventColumns = `e.position::text, e.type, e.version::text, e.data, array_to_string(e.debit, ',', '?') as debit,
  array_to_string(e.credit, ',', '?') as credit, array_to_string(e.amount, ',', '?') as amount, e.actor,
  (extract(epoch from e.at) * 1000000)::bigint::text as at, e.request_id, e.idempotency_key, e.reply_hash, e.hash`

/** The stored columns, before anything is believed about them. */
export function parseEntry(row: TextRow): ChainedEntry {
  const text = (column: string): string => {
    const value = row[column]
    if (value === null || value === undefined) throw new Unreadable(`event ${row['position']} has no ${column}`)
    return value
  }
  const list = (column: string): string[] => (text(column) === '' ? [] : text(column).split(','))
  const credit = list('credit')
  const amount = list('amount')
  return {
    position: Number(text('position')),
    type: text('type'),
    version: Number(text('version')),
    data: text('data'),
    movements: list('debit').map(
      (debit, i): Movement => ({ debit, credit: credit[i] ?? '', amount: Number(amount[i]) }),
    ),
    actor: text('actor'),
    at: Number(text('at')),
    requestId: text('request_id'),
    idempotencyKey: row['idempotency_key'] ?? null,
    replyHash: row['reply_hash'] ?? null,
    hash: text('hash'),
  }
}

/** The event that stands in an entry. Throws `Unreadable`: nothing is skipped that is not understood. */
export function readEvent(entry: ChainedEntry): RecordedEvent {
  const { position, type, version } = entry
  if (!isEventType(type)) throw new Unreadable(`event ${position} is a ${type}, which this version does not know`)
  if (version !== eventTypes[type].version) {
    throw new Unreadable(`event ${position} is ${type} version ${version}, which this version does not know`)
  }
  const data: unknown = JSON.parse(entry.data)
  if (!isDataOf(type, data)) throw new Unreadable(`event ${position} is not of the form of ${type}`)
  const event = { type, data, movements: entry.movements, position, at: entry.at, entry }
  // TypeScript does not carry the tie between `type` and `data` through the union; `isDataOf` just held it.
  return event as unknown as RecordedEvent
}

const isEventType = (type: string): type is EventType => Object.hasOwn(eventTypes, type)

const checks = new Map<EventType, TypeCheck<TSchema>>()

function isDataOf<T extends EventType>(type: T, data: unknown): data is EventData<T> {
  let check = checks.get(type)
  if (check === undefined) checks.set(type, (check = TypeCompiler.Compile<TSchema>(eventTypes[type].data)))
  return check.Check(data)
}
