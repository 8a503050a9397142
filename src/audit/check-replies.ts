import type { Snapshot } from '../ledger/snapshot.ts'
import { type Findings, MOST_FINDINGS } from './finding.ts'

/**
 * Remembered replies of commands that made events against their hash on the ledger. A reply is that of the last
 * events under its key. Only one that is a day younger may be another's: replies are kept for a day, and after
 * that a key may come back and be refused, which leaves no event.
 */
const wrongReplies = `
  with replied as (
    select distinct on (r.actor, r.idempotency_key)
           r.actor, r.idempotency_key, e.position, e.reply_hash, e.at as event_at, r.at as reply_at,
           encode(sha256(convert_to(r.status || E'\\n' || r.body, 'UTF8')), 'hex') as hash
    from replies r
    join ledger_events e on e.actor = r.actor and e.idempotency_key = r.idempotency_key
    order by r.actor, r.idempotency_key, e.position desc
  )
  select position::text, actor, idempotency_key
  from replied
  where hash is distinct from reply_hash and reply_at < event_at + interval '24 hours'
    and position <= $1
  order by position
  limit ${MOST_FINDINGS}`

/** Looks at the replies to events up to a position. */
export async function checkReplies(snapshot: Snapshot, upTo: number, findings: Findings): Promise<void> {
  for await (const page of snapshot.pages(wrongReplies, [upTo])) {
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
