import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { type Finding, MAX_FINDINGS } from '../finding.ts'

/** A remembered reply's hash, as `replyHash`. */
const REPLY_HASH_SQL = `encode(sha256(convert_to(r.status || E'\\n' || r.body, 'UTF8')), 'hex')`

/**
 * Remembered replies of commands that made the events at these positions, against their hash on the ledger, and the
 * hashes of what they became when people in them were forgotten. A reply that is a day younger may be another command's:
 * they are kept for a day, and after that a key may come back.
 */
const WRONG_REPLIES_SQL = `
  select max(e.position)::text as position, e.actor, e.idempotency_key
  from ledger_events e
  join replies r on r.actor = e.actor and r.idempotency_key = e.idempotency_key
  where e.position between $1 and $2
    and r.at < e.at + interval '24 hours'
    and ${REPLY_HASH_SQL} is distinct from e.reply_hash
    and not exists (
      select from ledger_events b,
                  jsonb_path_query(case when b.data is json then b.data::jsonb end, '$.replies[*]') as blanked
      where b.type = 'replies-blanked'
        and blanked ->> 'actor' = r.actor
        and blanked ->> 'idempotency_key' = r.idempotency_key
        and blanked ->> 'reply_hash' = ${REPLY_HASH_SQL})
  group by e.actor, e.idempotency_key
  order by max(e.position)
  limit ${MAX_FINDINGS}`

/** What is wrong with the replies to events from one position up to another. */
export async function checkReplies(snapshot: Snapshot, from: number, upTo: number): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for await (const page of snapshot.pages(WRONG_REPLIES_SQL, [from, upTo])) {
    for (const { position, actor, idempotency_key } of page) {
      found.push({
        check: 'reply',
        position: Number(position),
        table: 'replies',
        id: `${actor} ${idempotency_key}`,
        message: 'the remembered reply is not the one whose hash is on the ledger',
      })
    }
  }
  return found
}
