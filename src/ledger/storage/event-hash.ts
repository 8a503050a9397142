import type { EventType } from '../../../schema/events.ts'
import type { Movement, PositionedEvent } from '../rules/event.ts'
import { sha256 } from '../rules/hash.ts'
import { isoMicros } from '../rules/time.ts'

/** Everything that an event's hash covers, beside the hash before it. */
export interface HashInput {
  readonly position: number
  readonly type: string
  readonly version: number
  /** The data's JSON text, as it is stored. */
  readonly data: string
  readonly movements: readonly Movement[]
  readonly actor: string
  readonly at: number
  readonly requestId: string
  readonly idempotencyKey: string | null
  /** Hash of the remembered reply of the command that made the event, when there is one. */
  readonly replyHash: string | null
}

/** An event as it is stored. */
export interface LedgerEntry extends HashInput {
  readonly hash: string
}

/** An event with what is stored of it. */
export type StoredEvent<T extends EventType = EventType> = PositionedEvent<T> & { readonly entry: LedgerEntry }

/** The hash before the first event. */
export const GENESIS_HASH = '0'.repeat(64)

export const LINE_BREAK = 10

/**
 * The bytes under an event's hash: lines of text, none of which can hold a line break, so that no two events
 * share them and the chain can be followed in any language, SQL included (sql/audit/chain.sql).
 */
export function canonicalText(entry: HashInput, previous: string): string {
  const { movements } = entry
  let legs = ''
  for (const { debit, credit, amount } of movements) legs += `${debit} ${credit} ${amount};`
  return `${previous}\n${entry.position}\n${entry.type}\n${entry.version}\n${isoMicros(entry.at)}\n${entry.actor}\n${entry.requestId}\n${entry.idempotencyKey ?? ''}\n${entry.replyHash ?? ''}\n${legs}\n${entry.data}`
}

/** SHA-256 over the event and the hash before it, as hex. */
export const hashEvent = (entry: HashInput, previous: string): string => sha256(canonicalText(entry, previous))

/** What a remembered reply is known by on the ledger. */
export const replyHash = (status: number, body: string): string => sha256(`${status}\n${body}`)
