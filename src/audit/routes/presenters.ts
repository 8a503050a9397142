import type { LedgerEventRecord } from '../../../schema/finance.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'

/** An event for finance. A single movement is in fields of the event, several are in `movements`. */
export function presentEvent(entry: LedgerEntry): LedgerEventRecord {
  const movements = entry.movements.map(({ debit, credit, amount }) => ({
    debit,
    credit,
    currency: currencyOf(debit),
    amount,
  }))
  const [only] = movements
  const single = movements.length === 1 ? only : undefined
  return {
    position: entry.position,
    type: entry.type,
    version: entry.version,
    data: JSON.parse(entry.data),
    debit: single?.debit ?? null,
    credit: single?.credit ?? null,
    currency: single?.currency ?? null,
    amount: single?.amount ?? null,
    ...(movements.length > 1 && { movements }),
    actor: entry.actor,
    at: isoMicros(entry.at),
    request_id: entry.requestId,
    hash: entry.hash,
  }
}
