import { currencyOf } from '../../ledger/rules/account.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'

/**
 * An event as one line of JSON, with all that its hash covers; `data` stands in it to the letter. How the hash is made
 * is told in ledger/chain.ts.
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
