import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { type Finding, MAX_FINDINGS } from '../finding.ts'

/** A stored reply's hash, as `replyHash` computes it. */
const REPLY_HASH_SQL = `encode(sha256(convert_to(r.status || E'\\n' || r.body, 'UTF8')), 'hex')`

/**
 * Stored replies to the commands of events in a range whose hash is neither that of the event nor, for a reply that an
 * erasure redacted, that of the `replies-blanked` event. Skips replies made a day after the event: by then the first
 * reply has expired, and its idempotency key may have been used again.
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
                  jsonb_path_query(case when b.data is json then b.data::jsonb end, '$.replies[*]') as redacted
      where b.type = 'replies-blanked'
        and redacted ->> 'actor' = r.actor
        and redacted ->> 'idempotency_key' = r.idempotency_key
        and redacted ->> 'reply_hash' = ${REPLY_HASH_SQL})
  group by e.actor, e.idempotency_key
  order by max(e.position)
  limit ${MAX_FINDINGS}`

/** Findings of the stored replies to a range of events. */
export async function checkReplies(snapshot: Snapshot, from: number, upTo: number): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for await (const page of snapshot.pages(WRONG_REPLIES_SQL, [from, upTo])) {
    for (const { position, actor, idempotency_key } of page) {
      findings.push({
        check: 'reply',
        position: Number(position),
        table: 'replies',
        id: `${actor} ${idempotency_key}`,
        message: 'the stored reply does not match its hash on the ledger',
      })
    }
  }
  return findings
}
