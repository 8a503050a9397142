import { type EventType, eventTypes } from '../../../schema/events.ts'
import { isConstraintViolation, sqlStateOf, tableOf } from '../../db/postgres-errors.ts'
import { microsOf } from '../../db/queries/expressions.ts'
import { isoMicros } from '../rules/time.ts'
import { type Head, replyKey, type StoredReply } from '../storage/event-hash.ts'
import { fieldsOf, packData, packId, packMovements } from '../storage/packed-columns.ts'
import { jsonArray, plainArray, type RowTable, type Statement, type TextRow, textArray } from '../storage/row-table.ts'
import type { Batch } from './batch.ts'
import type { Command } from './command.ts'
import { CommitOutcomeUnknown, DuplicateIdempotencyKey, HeadConflict, LedgerWentBack } from './failures.ts'
import type { StatementResult } from './pipelined-connection.ts'
import type { RowCache } from './row-cache.ts'

// The store's own SQL. Statements with a name are prepared once.

const NOW_SQL = microsOf('clock_timestamp()')

/** Locks the head until the transaction ends, and reads it and the database's clock. */
export const lockHead: Statement = {
  name: 'lock head',
  // The subquery makes the row and the clock those of the moment when the lock was granted.
  text: `select position, hash, batch, ${microsOf('at')} as at,
                ${NOW_SQL} as now
         from (select position, hash, batch, at from ledger_head for update) as head`,
  values: [],
}

/** A row while commits are lost and that is not dealt with. */
export const findLostCommits: Statement = {
  name: 'find lost commits',
  text: 'select 1 from lost_commits',
  values: [],
}

/** Reads the id of the last batch and the database's clock. */
export const readHead: Statement = {
  name: 'read head',
  text: `select batch, ${NOW_SQL} as now from ledger_head`,
  values: [],
}

const plain = (text: string): Statement => ({ name: '', text, values: [] })

/** Read committed, whatever the database's default is: each statement sees what was committed before it. */
export const begin = plain('begin isolation level read committed read write')
export const commit = plain('commit')
export const rollback = plain('rollback')

/** Loads the replies that are stored under the keys of these commands; no statement when they have no keys. */
export function loadReplies(commands: readonly Command[]): Statement[] {
  const keys = commands.flatMap(({ cause: { actor, idempotency } }) =>
    idempotency === null ? [] : [replyKey(actor, idempotency.key)],
  )
  if (keys.length === 0) return []
  const statement = {
    name: 'load replies',
    text: `select r.key, r.request_hash, r.status, r.body from unnest($1::uuid[]) as k (key) join replies r on r.key = k.key`,
    values: [plainArray(keys)],
  }
  return [statement]
}

export const findBatch = (id: string): Statement => ({
  name: 'find batch',
  text: 'select 1 from ledger_batches where id = $1',
  values: [id],
})

/** Changes the head's batch id to `id`, a new one: batches decided on it but not yet run will fail with a conflict. */
export const fence = (id: string): Statement => ({
  name: 'fence',
  // Not by gen_random_uuid(), which Citus refuses in an update.
  text: 'update ledger_head set batch = $1::uuid',
  values: [id],
})

export function insertEvents({ events }: Batch): Statement {
  const entries = events.map(({ entry }) => entry)
  return {
    name: 'insert events',
    text: `insert into ledger_events
             (position, type, version, data, movements, actor, at, request_id, idempotency_key, reply_hash, hash)
           select unnest($1::bigint[]), unnest($2::text[]), unnest($3::smallint[]), unnest($4::text[]), unnest($5::text[]),
                  unnest($6::text[]), unnest($7::timestamptz[]), decode(unnest($8::text[]), 'hex'),
                  decode(unnest($9::text[]), 'hex'), decode(unnest($10::text[]), 'hex'), decode(unnest($11::text[]), 'hex')`,
    values: [
      plainArray(entries.map((e) => e.position)),
      plainArray(entries.map((e) => e.type)),
      plainArray(entries.map((e) => e.version)),
      jsonArray(events.map(({ data, entry }) => packData(entry.type, entry.version, data, entry.data))),
      textArray(entries.map((e) => packMovements(e.movements))),
      textArray(entries.map((e) => e.actor)),
      plainArray(entries.map((e) => isoMicros(e.at))),
      plainArray(entries.map((e) => packId(e.requestId))),
      plainArray(entries.map((e) => (e.idempotencyKey === null ? null : packId(e.idempotencyKey)))),
      plainArray(entries.map((e) => e.replyHash)),
      plainArray(entries.map((e) => e.hash)),
    ],
  }
}

/** How the data of these types is packed, where nothing says so yet. */
export const insertEventTypes = (types: readonly EventType[]): Statement => ({
  name: 'insert event types',
  text: `insert into event_types (type, version, fields)
         select type, version, string_to_array(fields, ',')
         from unnest($1::text[], $2::smallint[], $3::text[]) as written (type, version, fields)
         on conflict do nothing`,
  values: [
    plainArray(types),
    plainArray(types.map((type) => eventTypes[type].version)),
    textArray(types.map((type) => fieldsOf(type, eventTypes[type].version).join())),
  ],
})

/**
 * Fails when a reply is stored under one of its keys. A unique index shows that of the same day only: the others are looked
 * up, and a key that is found there makes its status null. Time never goes back on the ledger, so that there are no later
 * days.
 */
export function insertReplies({ replies, head }: Batch): Statement {
  return {
    name: 'insert replies',
    text: `insert into replies (key, request_hash, at, status, body)
           select key, request_hash, $5::timestamptz,
                  case when (select true from replies r
                             where r.key = n.key and r.at < date_trunc('day', $5::timestamptz, 'UTC')
                             limit 1) is null then status end,
                  body
           from (select unnest($1::uuid[]) as key, unnest($2::uuid[]) as request_hash,
                        unnest($3::smallint[]) as status, unnest($4::text[]) as body) n`,
    values: [
      plainArray(replies.map((r) => r.key)),
      plainArray(replies.map((r) => r.requestHash)),
      plainArray(replies.map((r) => r.status)),
      jsonArray(replies.map((r) => r.body)),
      isoMicros(head.at),
    ],
  }
}

/** The statements that write what was set, by table. */
export function changesOf(
  tables: ReadonlyMap<string, RowTable>,
  rows: RowCache,
): { readonly removals: readonly Statement[]; readonly saves: readonly Statement[] } {
  const removals: Statement[] = []
  const saves: Statement[] = []
  for (const table of tables.values()) {
    const changed = rows.changed(table.projection)
    if (table.source === 'lookup' || changed.length === 0) continue
    const removed: string[] = []
    const saved: unknown[] = []
    for (const { id, row } of changed) {
      if (row === undefined) removed.push(id)
      else saved.push(row)
    }
    if (removed.length > 0) removals.push(table.remove(removed))
    if (saved.length > 0) saves.push(table.save(saved))
  }
  return { removals, saves }
}

/** Each takes PostgreSQL some 180 kB, and a dozen verbs make hundreds of combinations within seconds. */
const MAX_ADVANCE_KINDS = 100

/** Makes the statements that move the head, for one connection at a time: that many kinds of them are prepared on it. */
export class AdvanceStatements {
  /** By the names of the changes that they include. */
  readonly #made = new Map<string, Omit<Statement, 'values'>>()

  /**
   * Moves the head from where the batch `before` left it, records the new batch's id and makes the changes. The first
   * statement fails with `HEAD_CONFLICT_CODE` when another batch was last, and while `lost_commits` has a row; it returns
   * the database's clock. It includes
   * the changes, as half the cost of a small batch is its number of statements; for the rarer combinations of changes
   * they follow as statements of their own.
   */
  advance(id: string, before: string, to: Head, changes: readonly Statement[]): Statement[] {
    const kind = changes.map(({ name }) => name).join()
    if (changes.length > 0 && !this.#made.has(kind) && this.#made.size >= MAX_ADVANCE_KINDS) {
      return [...this.advance(id, before, to, []), ...changes]
    }
    let made = this.#made.get(kind)
    if (made === undefined) {
      made = { name: `advance ${this.#made.size}`, text: advanceText(changes) }
      this.#made.set(kind, made)
    }
    const values = [id, to.position, to.hash, isoMicros(to.at), before]
    return [{ ...made, values: [...values, ...changes.flatMap((change) => change.values)] }]
  }
}

function advanceText(changes: readonly Statement[]): string {
  let parameters = 5
  const parts = changes.map(({ text, values }, i) => {
    const before = parameters
    parameters += values.length
    return `, change_${i} as (${text.replace(/\$(\d+)/g, (_, n: string) => `$${before + Number(n)}`)})`
  })
  // When no row is moved this divides by zero: an error, so that nothing sent after this statement happens either.
  return `with moved as (
            update ledger_head set batch = $1::uuid, position = $2::bigint, hash = $3::text, at = $4::timestamptz
            where batch = $5::uuid and not exists (select from lost_commits)
            returning position
          ), recorded as (
            insert into ledger_batches (id, position) select $1::uuid, position from moved
          )${parts.join('')}
          select 1 / count(*) as moved, ${NOW_SQL} as now
          from moved`
}

/** division_by_zero: how `advance` fails when the head has moved. */
const HEAD_CONFLICT_CODE = '22012'

export function parseReply(row: TextRow): StoredReply {
  return {
    key: hexOf(row['key']),
    requestHash: hexOf(row['request_hash']),
    status: Number(row['status']),
    body: String(row['body']),
  }
}

const hexOf = (uuid: unknown): string => String(uuid).replaceAll('-', '')

/**
 * Throws unless the transaction committed, as the results of all its statements show, COMMIT the last. In pessimistic
 * mode all replies were looked up, so that a duplicate key there is the fault of its command; and the head was locked, so
 * that it can fail to move only because commits were lost.
 */
export function assertCommitted(
  results: readonly PromiseSettledResult<StatementResult>[],
  mode: 'pessimistic' | 'optimistic',
): void {
  const last = results.at(-1)
  const failure: unknown = results.find((result) => result.status === 'rejected')?.reason
  const tag = last?.status === 'fulfilled' ? last.value.command : undefined
  if (tag === 'COMMIT' && failure === undefined) return
  // COMMIT answers ROLLBACK after a failed statement, and a violation when a deferred constraint fails. Anything else
  // (a shutdown in between, say) proves nothing, nor does COMMIT after a failure: then there was no transaction.
  const isRolledBack = tag === 'ROLLBACK' || (last?.status === 'rejected' && isConstraintViolation(last.reason))
  if (!isRolledBack) throw new CommitOutcomeUnknown('COMMIT was not clearly answered', { cause: failure })
  if (sqlStateOf(failure) === HEAD_CONFLICT_CODE) {
    if (mode === 'pessimistic') throw new LedgerWentBack('commits were lost', { cause: failure })
    throw new HeadConflict('another batch has moved the head', { cause: failure })
  }
  if (mode === 'optimistic' && isConstraintViolation(failure) && tableOf(failure)?.startsWith('replies_') === true) {
    throw new DuplicateIdempotencyKey('a reply is already stored under this key', { cause: failure })
  }
  throw failure ?? new Error('COMMIT was answered ROLLBACK')
}
