import { plainArray, textArray } from './array-text.ts'
import type { Batch, Head, RememberedReply } from './batch.ts'
import type { Command } from './command.ts'
import type { Statement, TextRow } from './row-table.ts'
import { isoMicros } from './time.ts'

// The store's own SQL. Statements have names so that they are prepared once.

/** The end of the ledger, locked until the transaction is over, and the database's clock. */
export const lockHead: Statement = {
  name: 'lock head',
  // A lock that was waited for comes with the row, and the clock, of that moment.
  text: `select position, hash, (extract(epoch from at) * 1000000)::bigint as at,
                (extract(epoch from clock_timestamp()) * 1000000)::bigint as now
         from ledger_head for update`,
  values: [],
}
const plain = (text: string): Statement => ({ name: '', text, values: [] })

/** Each statement sees what was committed before it, whatever the database's default is. */
export const begin = plain('begin isolation level read committed read write')
export const commit = plain('commit')
export const rollback = plain('rollback')

/** Loads the replies that are remembered under the keys of these commands; nothing when they have none. */
export function loadReplies(commands: readonly Command[]): Statement[] {
  const keyed = commands.flatMap(({ cause: { actor, idempotency } }) =>
    idempotency === null ? [] : [{ actor, key: idempotency.key }],
  )
  if (keyed.length === 0) return []
  const statement = {
    name: 'load replies',
    text: `select r.* from unnest($1::text[], $2::text[]) as k (actor, key)
           join replies r on r.actor = k.actor and r.idempotency_key = k.key`,
    values: [textArray(keyed.map(({ actor }) => actor)), textArray(keyed.map(({ key }) => key))],
  }
  return [statement]
}

export const findBatch = (id: string): Statement => ({
  name: 'find batch',
  text: 'select 1 from ledger_batches where id = $1',
  values: [id],
})

export function insertEvents({ entries }: Batch): Statement {
  return {
    name: 'insert events',
    text: `insert into ledger_events
             (position, type, version, data, debit, credit, amount, actor, at, request_id, idempotency_key, reply_hash, hash)
           select position, type, version, data, debit::text[], credit::text[], amount::bigint[], actor, at, request_id, idempotency_key, reply_hash, hash
           from unnest($1::bigint[], $2::text[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                       $9::timestamptz[], $10::text[], $11::text[], $12::text[], $13::text[])
             as e (position, type, version, data, debit, credit, amount, actor, at, request_id, idempotency_key, reply_hash, hash)`,
    values: [
      plainArray(entries.map((e) => e.position)),
      plainArray(entries.map((e) => e.type)),
      plainArray(entries.map((e) => e.version)),
      textArray(entries.map((e) => e.data)),
      textArray(entries.map((e) => plainArray(e.movements.map((m) => m.debit)))),
      textArray(entries.map((e) => plainArray(e.movements.map((m) => m.credit)))),
      textArray(entries.map((e) => plainArray(e.movements.map((m) => m.amount)))),
      textArray(entries.map((e) => e.actor)),
      plainArray(entries.map((e) => isoMicros(e.at))),
      textArray(entries.map((e) => e.requestId)),
      textArray(entries.map((e) => e.idempotencyKey)),
      plainArray(entries.map((e) => e.replyHash)),
      plainArray(entries.map((e) => e.hash)),
    ],
  }
}

export function insertReplies({ replies, head }: Batch): Statement {
  return {
    name: 'insert replies',
    text: `insert into replies (actor, idempotency_key, request_hash, status, body, at)
           select *, $6::timestamptz from unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::text[])`,
    values: [
      textArray(replies.map((r) => r.actor)),
      textArray(replies.map((r) => r.key)),
      textArray(replies.map((r) => r.requestHash)),
      plainArray(replies.map((r) => r.status)),
      textArray(replies.map((r) => r.body)),
      isoMicros(head.at),
    ],
  }
}

/** The new head and the batch's id; followers on other instances get a hint when there are events. */
export function closing(id: string, head: Head, events: boolean): Statement {
  return {
    name: events ? 'close' : 'close without events',
    text: `with moved as (
             update ledger_head set position = $2::bigint, hash = $3::text, at = $4::timestamptz
           )
           insert into ledger_batches (id, position) values ($1::uuid, $2::bigint)
           returning ${events ? `pg_notify('ledger', $2::text)` : '1'}`,
    values: [id, head.position, head.hash, isoMicros(head.at)],
  }
}

export function asReply(row: TextRow): RememberedReply {
  return {
    actor: String(row['actor']),
    key: String(row['idempotency_key']),
    requestHash: String(row['request_hash']),
    status: Number(row['status']),
    body: String(row['body']),
  }
}
