import type { EventType } from '../../../schema/events.ts'
import type { Movement } from '../rules/account.ts'
import type { PositionedEvent } from '../rules/event.ts'
import { sha256, shortHash } from '../rules/hash.ts'
import { isoMicros, type Micros } from '../rules/time.ts'

/** Everything that an event's hash covers, except the hash before it. */
export interface HashInput {
  readonly position: number
  readonly type: string
  readonly version: number
  /** The data as JSON text, as it is stored. */
  readonly data: string
  readonly movements: readonly Movement[]
  readonly actor: string
  readonly at: number
  readonly requestId: string
  readonly idempotencyKey: string | null
  /** Hash of the reply that is stored for the command that made the event, if any. */
  readonly replyHash: string | null
}

/** A row of `ledger_events`. */
export interface LedgerEntry extends HashInput {
  readonly hash: string
}

/** An event with the row that stores it. */
export type StoredEvent<T extends EventType = EventType> = PositionedEvent<T> & { readonly entry: LedgerEntry }

/** The hash before the first event. */
export const GENESIS_HASH = '0'.repeat(64)

export const LINE_BREAK = 10

/**
 * The text that an event's hash covers: lines, none of which has a line break, so that no two events share it and
 * the chain can be followed in any language, SQL included (sql/audit/chain.sql).
 */
export function canonicalText(entry: HashInput, previous: string): string {
  const { movements } = entry
  let legs = ''
  for (const { debit, credit, amount } of movements) legs += `${debit} ${credit} ${amount};`
  return `${previous}\n${entry.position}\n${entry.type}\n${entry.version}\n${isoMicros(entry.at)}\n${entry.actor}\n${entry.requestId}\n${entry.idempotencyKey ?? ''}\n${entry.replyHash ?? ''}\n${legs}\n${entry.data}`
}

/** SHA-256 of the event and the hash before it, as hex. */
export const hashEvent = (entry: HashInput, previous: string): string => sha256(canonicalText(entry, previous))

/** How an event refers to the reply that is stored for its command. */
export const replyHash = (status: number, body: string): string => sha256(`${status}\n${body}`)

/** The end of the ledger. */
export interface Head {
  readonly position: number
  readonly hash: string
  readonly at: Micros
}

/** The reply to a command; opaque here. `status` and `body` are stored under the idempotency key. */
export interface Reply {
  readonly status: number
  readonly body: string
  /** Whether the same request is judged again instead of being answered with it. */
  readonly isTransient?: true
}

/** A stored reply, sent again to the same request. */
export interface StoredReply extends Omit<Reply, 'isTransient'> {
  /** See `replyKey`. */
  readonly key: string
  readonly requestHash: string
}

/** What the reply to an actor's idempotency key is stored under. Unambiguous, as neither part can contain a line break. */
export const replyKey = (actor: string, idempotencyKey: string): string => shortHash(`${actor}\n${idempotencyKey}`)

/** Bytes in addition to the texts, indexes included; `npm run bench:tables` measures the tables. */
const EVENT_BYTES = 250
/** A key and the hash of its reply. */
const KEY_BYTES = 50
const MOVEMENT_BYTES = 24
const REPLY_BYTES = 120
const ROW_BYTES = 100
const NUMBER_BYTES = 8

/** About how many bytes a command adds to the database: its events, new rows and reply. */
export function estimateStoredBytes(
  events: readonly StoredEvent[],
  added: readonly unknown[],
  reply: StoredReply | undefined,
): number {
  let bytes = reply === undefined ? 0 : REPLY_BYTES + Buffer.byteLength(reply.body)
  for (const event of events) bytes += eventBytes(event)
  for (const row of added) bytes += rowBytes(row)
  return bytes
}

function eventBytes({ entry }: StoredEvent): number {
  const { type, data, movements, actor, idempotencyKey } = entry
  const bytes = EVENT_BYTES + type.length + Buffer.byteLength(data) + actor.length + movements.length * MOVEMENT_BYTES
  return bytes + (idempotencyKey === null ? 0 : KEY_BYTES)
}

function rowBytes(row: unknown): number {
  let bytes = ROW_BYTES
  if (typeof row !== 'object' || row === null) return bytes
  for (const value of Object.values(row)) {
    if (typeof value === 'string') bytes += Buffer.byteLength(value)
    else bytes += typeof value === 'object' && value !== null ? JSON.stringify(value).length : NUMBER_BYTES
  }
  return bytes
}
