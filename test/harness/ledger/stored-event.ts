import type { StoredEvent } from '../../../src/ledger/storage/event-hash.ts'

const cause = { actor: 'system', requestId: 'r', idempotencyKey: null, replyHash: null }

/** An event without any effect, at a position. */
export function storedEvent(position: number): StoredEvent {
  const data = { fairness_key: 'k', incarnation: 'i' }
  const positioned = { type: 'ledger-opened', data, movements: [], position, at: 0 } as const
  const entry = {
    ...cause,
    type: positioned.type,
    version: 1,
    data: JSON.stringify(data),
    movements: [],
    position,
    at: 0,
  }
  return { ...positioned, entry: { ...entry, hash: '' } }
}
