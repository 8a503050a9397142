import type { Snapshot } from '../ledger/snapshot.ts'
import { type Findings, MOST_FINDINGS } from './finding.ts'

/**
 * Remembered replies of commands that made the events at these positions, against their hash on the ledger. One that is
 * a day younger may be another command's: replies are kept for a day, and after that a key may come back. One in
 * which somebody was blanked is another text.
 */
const wrongReplies = `
  select max(e.position)::text as position, e.actor, e.idempotency_key
  from ledger_events e
  join replies r on r.actor = e.actor and r.idempotency_key = e.idempotency_key
  where e.position between $1 and $2 and not r.blanked
    and r.at < e.at + interval '24 hours'
    and encode(sha256(convert_to(r.status || E'\\n' || r.body, 'UTF8')), 'hex') is distinct from e.reply_hash
  group by e.actor, e.idempotency_key
  order by max(e.position)
  limit ${MOST_FINDINGS}`

/** Looks at the replies to events from one position up to another. */
export async function checkReplies(snapshot: Snapshot, from: number, upTo: number, findings: Findings): Promise<void> {
  for await (const page of snapshot.pages(wrongReplies, [from, upTo])) {
    for (const { position, actor, idempotency_key } of page) {
      findings.add({
        check: 'reply',
        position: Number(position),
        table: 'replies',
        id: `${actor} ${idempotency_key}`,
        message: 'the remembered reply is not the one whose hash is on the ledger',
      })
    }
  }
}
