import { randomUUID } from 'node:crypto'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ClientBase, Pool } from 'pg'
import type { LastSeen } from '../../db/last-seen.ts'
import { microsOf } from '../../db/queries/expressions.ts'
import type { lostCommits } from '../rules/incarnation.ts'
import type { RowOf } from '../rules/projection.ts'
import type { Statement } from './row-table.ts'

// Commits that were answered can be lost outside our reach: by a restore to an earlier moment, by a failover to a standby
// that lacked them. What is here tells whether that happened, and records it, so that nothing is written on such a ledger
// before `ledger-restored`.

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** A database cluster, and which of its lives: a restore and a promotion begin another timeline. */
const Home = Type.Object({
  /** What `initdb` made up; copies of the cluster have the same. */
  system: Type.String(),
  timeline: Type.Integer(),
})
type Home = Static<typeof Home>

/** What was recorded when somebody noticed that commits were lost. */
export type LostCommits = RowOf<typeof lostCommits>

const LedgerEnd = Type.Object({
  position: Type.Integer(),
  hash: Type.String(),
  /** The hash of the first event; null on an empty ledger, as `incarnation` and `began_at`. */
  ledger: nullable(Type.String()),
  /** The system identifier and oid of the database: another one than that of a ledger is no loss of that. */
  database: Type.String(),
  incarnation: nullable(Type.String()),
  began_at: nullable(Type.Integer()),
  /** The hash at the position that was asked for. */
  hash_there: nullable(Type.String()),
  /** Where the ledger's incarnation lives, if that was said, and where this is; null on a standby, which cannot tell. */
  home: nullable(Home),
  here: nullable(Home),
  lost: nullable(
    Type.Object({
      incarnation: Type.String(),
      reason: Type.String(),
      position: nullable(Type.Integer()),
      hash: nullable(Type.String()),
      ended_at: Type.Integer(),
    }),
  ),
})
/** The end of the ledger as a database has it, and where the database is. */
export type LedgerEnd = Static<typeof LedgerEnd>

/** Runs a statement and answers the rows, whose values may be text. */
export type Query = (statement: Statement) => Promise<{ readonly rows: readonly object[] }>

/** The timeline is that of the WAL that is being written: what `pg_control_checkpoint` says lags behind a promotion. */
const HERE = `case when pg_is_in_recovery() then null else json_build_object(
    'system', (select system_identifier::text from pg_control_system()),
    'timeline', ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint) end`

export const queryOf =
  (client: Pick<ClientBase | Pool, 'query'>): Query =>
  (statement) =>
    client.query<object>({ ...statement })

/** Reads the end of the ledger, and the hash at a position. Throws where an answer has another form. */
export async function readLedgerEnd(query: Query, position: number | null): Promise<LedgerEnd> {
  const { rows } = await query({
    name: 'ledger end',
    // As one text: its parts are numbers to whatever connection asks.
    text: `select json_build_object('position', h.position, 'hash', h.hash,
             'ledger', (select hash from ledger where position = 1),
             'database', (select s.system_identifier || '/' || d.oid from pg_control_system() s, pg_database d
                          where d.datname = current_database()),
             'incarnation', i.incarnation, 'began_at', ${microsOf('i.began_at')},
             'hash_there', (select hash from ledger where position = $1::bigint),
             'home', (select json_build_object('system', system_identifier, 'timeline', timeline) from ledger_home),
             'here', ${HERE},
             'lost', (select row_to_json(l) from
                        (select incarnation, reason, position, hash, ended_at from lost_commits) l))::text as ledger_end
           from ledger_head h left join ledger_incarnation i on true`,
    values: [position],
  })
  const text: unknown = Reflect.get(rows[0] ?? {}, 'ledger_end')
  if (typeof text !== 'string') throw new Error('the ledger has no head')
  const end: unknown = JSON.parse(text)
  if (!Value.Check(LedgerEnd, end)) throw new Error('the end of the ledger has another form than this version knows')
  return end
}

/** Says that the ledger's incarnation lives in the database that answers. */
export async function saveHome(query: Query): Promise<void> {
  await query({
    name: 'save home',
    text: `insert into ledger_home (one, system_identifier, timeline)
           select 1, here->>'system', (here->>'timeline')::bigint from (select ${HERE} as here) as h where here is not null
           on conflict (one) do update set system_identifier = excluded.system_identifier, timeline = excluded.timeline`,
    values: [],
  })
}

/** How a ledger compares with what was seen on it. */
export type Comparison =
  /** What was seen is there. `hasMoved`: its database is another now, or none was recorded yet. */
  | { readonly is: 'here'; readonly hasMoved: boolean }
  /** A standby may yet receive what it lacks. */
  | { readonly is: 'unknown' }
  /** An incarnation has begun since that was seen: commits were lost, and that is dealt with. */
  | { readonly is: 'restored' }
  /** The ledger is empty or has another first event: what was seen is not on it, and never was. */
  | { readonly is: 'another'; readonly reason: string }
  /** Its database is another now, and nothing is known of what the ledger had. */
  | { readonly is: 'unseen'; readonly reason: string }
  /** Commits were lost, or may be. */
  | { readonly is: 'back'; readonly reason: string }

/**
 * Compares a ledger with what was seen on it; null: nothing. `isSynchronous`: no commit that was answered can be missing on a
 * database that was promoted.
 */
export function compareWithSeen(end: LedgerEnd, seen: LastSeen | null, isSynchronous: boolean): Comparison {
  const { here, home, lost } = end
  if (seen !== null && seen.ledger !== end.ledger) {
    if (end.ledger !== null) return { is: 'another', reason: 'its database has another ledger' }
    return here === null ? { is: 'unknown' } : { is: 'another', reason: 'its database is empty' }
  }
  const isFormer = seen !== null && seen.incarnation !== end.incarnation && seen.began_at < (end.began_at ?? 0)
  if (here === null) return { is: isFormer ? 'restored' : 'unknown' }
  if (lost !== null) return { is: 'back', reason: lost.reason }
  const known = isFormer ? null : seen
  if (known !== null) {
    const { incarnation, position, hash } = known
    if (incarnation !== end.incarnation) return { is: 'back', reason: `its incarnation ${incarnation} is not on it` }
    if (end.position < position) {
      return { is: 'back', reason: `it ends at position ${end.position}, and position ${position} was seen` }
    }
    if (end.hash_there !== hash) return { is: 'back', reason: `another event was seen at position ${position}` }
  }
  const hasMoved = home?.system !== here.system || home.timeline !== here.timeline
  if (hasMoved && home !== null && end.ledger !== null) {
    const reason = `its database was ${describe(home)} and is ${describe(here)}`
    if (known === null) return { is: 'unseen', reason }
    if (!isSynchronous) return { is: 'back', reason }
  }
  return isFormer ? { is: 'restored' } : { is: 'here', hasMoved }
}

/** The end of the ledger as something seen; null when the ledger is empty. */
export const seenAt = ({ ledger, database, incarnation, began_at, position, hash }: LedgerEnd): LastSeen | null =>
  ledger === null || incarnation === null || began_at === null
    ? null
    : { ledger, database, incarnation, began_at, position, hash }

/** Whether this is another ledger in another database than what was seen: somebody has chosen another address. */
export const isElsewhere = ({ ledger, database }: LedgerEnd, seen: LastSeen): boolean =>
  seen.ledger !== ledger && seen.database !== database

/** From where to where the ledger went back, as far as that is known. */
export function describeLoss(
  { lost, position, hash_there }: LedgerEnd,
  seen: LastSeen | null,
  reason: string,
): { readonly text: string; readonly from: number | null; readonly to: number } {
  const from = lost?.position ?? seen?.position ?? null
  const to = lost?.ended_at ?? position
  const path =
    from !== null && to < from
      ? `went back from position ${from} to ${to}`
      : lost === null && seen !== null && seen.hash !== hash_there
        ? `went back from position ${from} to one before it`
        : `may have gone back to position ${to}`
  return { text: `The ledger ${path}: ${reason}`, from, to }
}

const describe = ({ system, timeline }: Home): string => `timeline ${timeline} of system ${system}`

const TIMEOUTS = `set statement_timeout = '10s'; set lock_timeout = '8s'`

/**
 * Records that commits were lost, unless somebody has: from then on nothing is written until `recordRestore` begins the
 * incarnation that the record names, which is `next` unless there was a record. Waits for a running commit. The ledger
 * lives in the database of `client` from now on. Null, and nothing is recorded, when the ledger's incarnation is not
 * `incarnation`, and so has begun since.
 */
export async function recordLostCommits(
  client: Pick<ClientBase, 'query'>,
  {
    incarnation,
    next,
    reason,
    last_known: known,
  }: {
    readonly incarnation: string
    readonly next: string
    readonly reason: string
    readonly last_known: Pick<LastSeen, 'position' | 'hash'> | null
  },
): Promise<LostCommits | null> {
  const query = queryOf(client)
  try {
    await client.query(
      `${TIMEOUTS}; begin isolation level read committed read write; select from ledger_head for update`,
    )
    const { rows } = await client.query<LostCommits>(
      `insert into lost_commits (one, incarnation, reason, position, hash, ended_at, noticed_at)
       select 1, $1, $2, $3::bigint, $4, h.position, clock_timestamp() from ledger_head h, ledger_incarnation i
       where i.incarnation = $5
       on conflict (one) do update set one = excluded.one
       returning one::int, incarnation, reason, position::float8, hash, ended_at::float8,
                 ${microsOf('noticed_at')}::float8 as noticed_at`,
      [next, reason, known?.position ?? null, known?.hash ?? null, incarnation],
    )
    const [lost] = rows
    if (lost !== undefined) {
      await saveHome(query)
      // Batches that were decided before fail. Not by gen_random_uuid(), which Citus refuses in an update.
      await client.query('update ledger_head set batch = $1::uuid', [randomUUID()])
    }
    await client.query('commit')
    return lost ?? null
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}
