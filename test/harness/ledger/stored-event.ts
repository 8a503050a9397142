import type { StoredEvent } from '../../../src/ledger/storage/event-hash.ts'

const cause = { actor: 'system', requestId: 'r', idempotencyKey: null, replyHash: null }

/** An event of no consequence at a position. */
export function storedEvent(position: number): StoredEvent {
  const data = { fairness_key: 'k' }
  const placed = { type: 'ledger-opened', data, movements: [], position, at: 0 } as const
  const entry = { ...cause, type: placed.type, version: 1, data: JSON.stringify(data), movements: [], position, at: 0 }
  return { ...placed, entry: { ...entry, hash: '' } }
}
