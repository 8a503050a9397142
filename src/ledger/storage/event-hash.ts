import type { EventType } from '../../../schema/events.ts'
import type { Movement, PositionedEvent } from '../rules/event.ts'
import { sha256 } from '../rules/hash.ts'
import { isoMicros } from '../rules/time.ts'

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
