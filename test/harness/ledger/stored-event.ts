import type { LedgerEntry, StoredEvent } from '../../../src/ledger/storage/event-hash.ts'

/** An event without any effect, at a position; its entry may have other fields. */
export function storedEvent(position: number, fields: Partial<LedgerEntry> = {}): StoredEvent {
  const data = { fairness_key: 'k', incarnation: 'i' }
  const cause = { actor: 'system', requestId: 'r', idempotencyKey: null, replyHash: null }
  const positioned = { type: 'ledger-opened', movements: [], position, at: 0 } as const
  const entry = { ...positioned, ...cause, version: 1, data: JSON.stringify(data), hash: '', ...fields }
  return { ...positioned, data, entry }
}
