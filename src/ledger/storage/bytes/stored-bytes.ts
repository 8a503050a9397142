import type { StoredEvent } from '../event-hash.ts'
import type { StoredReply } from '../head.ts'

/**
 * Bytes beside the texts, with entries of indexes: `npm run bench:tables` measures what the tables take. An event also
 * has a row for each channel that is told of it.
 */
const EVENT_BYTES = 250
const MOVEMENT_BYTES = 24
const REPLY_BYTES = 150
const ROW_BYTES = 100
const NUMBER_BYTES = 8

/** About what a command adds to the database: its events, the rows that were not there before, and its reply. */
export function estimateStoredBytes(
  events: readonly StoredEvent[],
  added: readonly unknown[],
  reply: StoredReply | undefined,
): number {
  let bytes = reply === undefined ? 0 : replyBytes(reply)
  for (const event of events) bytes += eventBytes(event)
  for (const row of added) bytes += rowBytes(row)
  return bytes
}

function eventBytes({ entry }: StoredEvent): number {
  const { type, data, movements, actor, requestId, idempotencyKey, replyHash, hash } = entry
  let bytes = EVENT_BYTES + type.length + Buffer.byteLength(data) + actor.length + requestId.length + hash.length
  bytes += (idempotencyKey?.length ?? 0) + (replyHash?.length ?? 0)
  for (const { debit, credit } of movements) bytes += MOVEMENT_BYTES + debit.length + credit.length
  return bytes
}

/** The key stands in the index too. */
const replyBytes = ({ actor, key, requestHash, body }: StoredReply): number =>
  REPLY_BYTES + 2 * (actor.length + key.length) + requestHash.length + Buffer.byteLength(body)

function rowBytes(row: unknown): number {
  let bytes = ROW_BYTES
  if (typeof row !== 'object' || row === null) return bytes
  for (const value of Object.values(row)) {
    if (typeof value === 'string') bytes += Buffer.byteLength(value)
    else bytes += typeof value === 'object' && value !== null ? JSON.stringify(value).length : NUMBER_BYTES
  }
  return bytes
}
