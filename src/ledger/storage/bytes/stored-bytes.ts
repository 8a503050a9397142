import type { StoredEvent } from '../event-hash.ts'
import type { StoredReply } from '../head.ts'

/**
 * Bytes in addition to the texts, index entries included; `npm run bench:tables` measures the tables. An event also has
 * a row for each channel that it appears in.
 */
const EVENT_BYTES = 250
const MOVEMENT_BYTES = 24
const REPLY_BYTES = 150
const ROW_BYTES = 100
const NUMBER_BYTES = 8

/** About how many bytes a command adds to the database: its events, new rows and reply. */
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

/** Actor and key are in the index too. */
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
