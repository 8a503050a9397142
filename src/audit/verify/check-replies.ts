import { Value } from '@sinclair/typebox/value'
import { eventTypes } from '../../../schema/events.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { type Finding, MAX_FINDINGS } from './finding.ts'

const MAX_MISMATCHES = 1_000

/**
 * The events in a range whose stored reply is not what it must be, by the position of their command's last event, after $3.
 * A key is taken while its reply is stored, for 48 hours at least, and a reply has the time of its events. The only row under
 * the key of an event is therefore its reply, with its hash. An event that is older than 48 hours may have none, or that of a
 * command that used its key later, 48 hours or more after it. Its age is counted from the clock or the ledger's last event,
 * whichever is later: the clock may have gone back, and replies expire also while no commands run.
 *
 * Most events are older than all stored replies, before $4: they are left out before their keys are computed. Each reply is
 * looked up by its key, in the order of keys, as the next one then mostly is in the same page of the index (`offset 0` keeps
 * the planner from reading the whole table for each range). Keys and hashes are those of `replyKey` and `replyHash`.
 */
const MISMATCHES_SQL = `
  select max(e.position)::text as position, e.actor, ledger_id(e.idempotency_key) as idempotency_key,
         replace(e.key::text, '-', '') as key,
         case when not bool_or(r.at <> e.at) then min(encode(r.hash, 'hex')) end as reply_hash,
         case when count(r.at) = 0 then 'the stored reply is missing'
              when bool_or(r.at <> e.at) then 'another reply is stored under its key'
              else 'the stored reply does not match its hash on the ledger' end as message
  from (
    select position, at, actor, idempotency_key, reply_hash,
           encode(substr(sha256(convert_to(actor || E'\\n' || ledger_id(idempotency_key), 'UTF8')), 1, 16), 'hex')::uuid as key
    from ledger_events
    where position between $1 and $2 and idempotency_key is not null and at >= $4::timestamptz
    order by key offset 0
  ) e
  left join lateral (
    select at, sha256(convert_to(status || E'\\n' || body, 'UTF8')) as hash from replies where key = e.key offset 0
  ) r on true
  where (r.hash is distinct from e.reply_hash or r.at <> e.at)
    and (r.at < e.at + interval '48 hours'
         or e.at > greatest(now(), (select at from ledger_events order by position desc limit 1)) - interval '48 hours'
         or exists (select from replies where key = e.key and at = e.at))
  group by e.actor, e.idempotency_key, e.key, e.at
  having max(e.position) > $3
  order by max(e.position)
  limit ${MAX_MISMATCHES}`

/**
 * For `checkReplies`, a time before which no reply was made that is stored. They are kept for up to 72 hours: only what is
 * older is looked at, which is in few days or none.
 */
export async function readOldestReply(snapshot: Snapshot): Promise<string> {
  const [row] = await snapshot.query(
    `select least(min(at), now() - interval '72 hours')::text as at from replies where at < now() - interval '72 hours'`,
  )
  return String(row?.['at'])
}

/** Parsed here: PostgreSQL 15 cannot ask whether a text is JSON, and that of an event that was tampered with may not be. */
const redactionsSql = (after: number): string =>
  `select data from ledger where type = 'replies-blanked' and position > ${after}`

interface Mismatch {
  readonly position: number
  readonly actor: string
  readonly idempotency_key: string
  readonly key: string
  /** The hash of the stored reply, where that is the only one under its key. */
  readonly reply_hash: string | null
  readonly message: string
}

/**
 * Findings of the stored replies to a range of events: one that is missing, one more under the same key, and one whose hash
 * is neither that of the event nor, for a reply that an erasure redacted, that of the `replies-blanked` event. `oldest` is
 * what `readOldestReply` answered.
 */
export async function checkReplies(
  snapshot: Snapshot,
  from: number,
  upTo: number,
  oldest: string,
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (let after = 0; findings.length < MAX_FINDINGS; ) {
    const mismatches = await mismatchesAfter(snapshot, [from, upTo, after, oldest])
    const last = mismatches.at(-1)
    if (last === undefined) break
    // After the replies were read: an erasure puts its event on the ledger before it redacts them.
    const redacted = await redactedReplies(snapshot, mismatches)
    for (const mismatch of mismatches) if (!redacted.has(keyOf(mismatch))) findings.push(findingOf(mismatch))
    if (mismatches.length < MAX_MISMATCHES) break
    after = last.position
  }
  return findings.slice(0, MAX_FINDINGS)
}

async function mismatchesAfter(snapshot: Snapshot, values: readonly unknown[]): Promise<readonly Mismatch[]> {
  const rows = await snapshot.query(MISMATCHES_SQL, values)
  return rows.map(({ position, actor, idempotency_key, key, reply_hash, message }) => ({
    position: Number(position),
    actor: String(actor),
    idempotency_key: String(idempotency_key),
    key: String(key),
    reply_hash: reply_hash ?? null,
    message: String(message),
  }))
}

/** Which of these replies, ordered by position, were redacted to just what they are now. */
async function redactedReplies(snapshot: Snapshot, mismatches: readonly Mismatch[]): Promise<ReadonlySet<string>> {
  const keys = new Set(mismatches.map(keyOf))
  const redacted = new Set<string>()
  const { data: schema } = eventTypes['replies-blanked']
  for await (const page of snapshot.rows(redactionsSql(mismatches[0]?.position ?? 0))) {
    for (const [data] of page) {
      const parsed = parseJson(String(data))
      if (!Value.Check(schema, parsed)) continue
      for (const key of parsed.replies.map(keyOf)) if (keys.has(key)) redacted.add(key)
    }
  }
  return redacted
}

/** Undefined for a text that is no JSON, which the checks of its event find. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const keyOf = ({ key, reply_hash }: Pick<Mismatch, 'key' | 'reply_hash'>): string => `${key} ${reply_hash}`

const findingOf = ({ position, actor, idempotency_key, message }: Mismatch): Finding => ({
  check: 'reply',
  position,
  table: 'replies',
  id: `${actor} ${idempotency_key}`,
  message,
})
