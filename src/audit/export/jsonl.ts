import { currencyOf } from '../../ledger/rules/account.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'

/**
 * An event as one line of JSON, with everything that its hash covers (`canonicalText` in ledger/storage/event-hash.ts);
 * `data` is the stored text, byte by byte.
 */
export function formatJsonLine(entry: LedgerEntry): string {
  const movements = entry.movements.map(
    ({ debit, credit, amount }) =>
      `{"debit":"${debit}","credit":"${credit}","currency":"${currencyOf(debit)}","amount":${amount}}`,
  )
  return (
    `{"position":${entry.position},"type":"${entry.type}","version":${entry.version},"at":"${isoMicros(entry.at)}",` +
    `"actor":${JSON.stringify(entry.actor)},"request_id":${JSON.stringify(entry.requestId)},` +
    `"idempotency_key":${JSON.stringify(entry.idempotencyKey)},"reply_hash":${JSON.stringify(entry.replyHash)},` +
    `"movements":[${movements.join(',')}],"data":${entry.data},"hash":"${entry.hash}"}\n`
  )
}
