import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import type { LastSeen } from '../../db/last-seen.ts'
import { microsOf } from '../../db/micros-of.ts'
import type { lostCommits } from '../rules/incarnation.ts'
import type { RowOf } from '../rules/projection.ts'
import type { Statement } from './row-table.ts'

// Commits that were answered can be lost outside our reach: by a restore to an earlier moment, by a failover to a standby
// that lacked them. What is here tells whether that happened, and records it, so that nothing is written on such a ledger
// before `ledger-restored`.

/** A database cluster, and which of its lives: a restore and a promotion begin another timeline. */
export interface Home {
  /** What `initdb` made up; copies of the cluster have the same. */
  readonly system: string
  readonly timeline: number
}

/** What was recorded when somebody noticed that commits were lost. */
export type LostCommits = RowOf<typeof lostCommits>

/** The end of the ledger as a database has it, and where the database is. */
export interface LedgerEnd {
  readonly position: number
  readonly hash: string
  /** The hash of the first event; null on an empty ledger, as `incarnation` and `began_at`. */
  readonly ledger: string | null
  readonly incarnation: string | null
  readonly began_at: number | null
  /** The hash at the position that was asked for. */
  readonly hash_there: string | null
  /** Where the ledger's incarnation lives, if that was said, and where this is; null on a standby, which cannot tell. */
  readonly home: Home | null
  readonly here: Home | null
  readonly lost: Pick<LostCommits, 'incarnation' | 'reason' | 'position' | 'hash' | 'ended_at'> | null
}

/** Runs a statement and answers the rows, whose values may be text. */
export type Query = (statement: Statement) => Promise<{ readonly rows: readonly object[] }>

/** The timeline is that of the WAL that is being written: what `pg_control_checkpoint` says lags behind a promotion. */
const HERE = `case when pg_is_in_recovery() then null else json_build_object(
    'system', (select system_identifier::text from pg_control_system()),
    'timeline', ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint) end`

/** Reads the end of the ledger, and the hash at a position. */
export async function readLedgerEnd(query: Query, position: number | null): Promise<LedgerEnd> {
  const { rows } = await query({
    name: 'ledger end',
    // As one text: its parts are numbers to whatever connection asks.
    text: `select json_build_object('position', h.position, 'hash', h.hash,
             'ledger', (select hash from ledger_events where position = 1),
             'incarnation', i.incarnation, 'began_at', ${microsOf('i.began_at')},
             'hash_there', (select hash from ledger_events where position = $1::bigint),
             'home', (select json_build_object('system', system_identifier, 'timeline', timeline) from ledger_home),
             'here', ${HERE},
             'lost', (select row_to_json(l) from
                        (select incarnation, reason, position, hash, ended_at from lost_commits) l))::text as ledger_end
           from ledger_head h left join ledger_incarnation i on true`,
    values: [position],
  })
  const text: unknown = Reflect.get(rows[0] ?? {}, 'ledger_end')
  if (typeof text !== 'string') throw new Error('the ledger has no head')
  // The statement builds this form.
  return JSON.parse(text) as LedgerEnd
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
  /** A standby may yet replay what it lacks. */
  | { readonly is: 'unknown' }
  /** An incarnation has begun since that was seen: commits were lost, and that is dealt with. */
  | { readonly is: 'restored' }
  /** The ledger is empty or has another first event: what was seen says nothing of it. */
  | { readonly is: 'another' }
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
    return { is: here === null && end.ledger === null ? 'unknown' : 'another' }
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

const describe = ({ system, timeline }: Home): string => `timeline ${timeline} of system ${system}`

const TIMEOUTS = `set statement_timeout = '10s'; set lock_timeout = '8s'`

/**
 * Records that commits were lost, unless somebody has: from then on nothing is written until `recordRestore` begins the
 * incarnation that the record names, which is `next` unless there was a record. Waits for a running commit. The ledger
 * lives in the database of `client` from now on. Throws when the ledger's incarnation is not `incarnation`, and so has begun
 * since.
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
): Promise<LostCommits> {
  const query: Query = (statement) => client.query<object>({ ...statement })
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
    if (lost === undefined) throw new Error('the ledger has begun another incarnation since')
    await saveHome(query)
    // Batches that were decided before fail. Not by gen_random_uuid(), which Citus refuses in an update.
    await client.query('update ledger_head set batch = $1::uuid', [randomUUID()])
    await client.query('commit')
    return lost
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}
