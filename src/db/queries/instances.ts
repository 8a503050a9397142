import type { Kysely } from 'kysely'
import { sql } from 'kysely'
import type { Pool } from 'pg'
import { eventTypes } from '../../../schema/events.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { Tables } from '../tables.ts'
import { deleteOlderRows } from './delete-older-rows.ts'
import { micros } from './expressions.ts'

/** Longer than a restart of the database takes. */
const INSTANCE_RETENTION = '2 minutes'

export interface InstanceIdentity {
  /** A UUID of this run of the process. */
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
}

export interface InstanceState {
  readonly role: 'writer' | 'forwarding'
  /** Commands that wait for a transaction. */
  readonly queue: number
  /** How far the subscribers of the ledger have read. */
  readonly position: number
  /** Open websockets. */
  readonly sockets: number
}

export interface Instance extends InstanceIdentity, Omit<InstanceState, 'position'> {
  /** Events of the ledger that its subscribers had not read when it was last seen. */
  readonly lag: number
  readonly started_at: Micros
  readonly seen_at: Micros
  /** By the database's clock: since it started, and since it was last seen. */
  readonly age_seconds: number
  readonly silent_seconds: number
}

/** The versions of each type of event that this program reads. */
const READS = JSON.stringify(
  Object.fromEntries(Object.entries(eventTypes).map(([type, { version }]) => [type, [version]])),
)

/** Says that an instance is there. */
export async function saveInstance(pool: Pool, identity: InstanceIdentity, state: InstanceState): Promise<void> {
  const { id, host, pid, version } = identity
  const { role, queue, position, sockets } = state
  await pool.query({
    name: 'save instance',
    text: `insert into instances (id, host, pid, version, role, queue, lag, sockets, reads, started_at, seen_at)
           select $1::uuid, $2, $3, $4, $5, $6, greatest(0, position - $7::bigint), $8, $9, now(), now() from ledger_head
           on conflict (id) do update
           set role = excluded.role, queue = excluded.queue, lag = excluded.lag, sockets = excluded.sockets,
               seen_at = excluded.seen_at`,
    values: [id, host, pid, version, role, queue, position, sockets, READS],
  })
}

export async function removeInstance(pool: Pool, id: string): Promise<void> {
  await pool.query('delete from instances where id = $1', [id])
}

/** Deletes the rows of instances that have been silent for two minutes. */
export const removeSilentInstances = (pool: Pool): Promise<void> =>
  deleteOlderRows(pool, 'instances', INSTANCE_RETENTION)

/** All instances that were there a moment ago, the oldest first. */
export async function readInstances(db: Kysely<Tables>): Promise<readonly Instance[]> {
  const { rows } = await sql<Instance>`
    select id, host, pid, version, role, queue, lag, sockets,
           ${micros('started_at')} as started_at, ${micros('seen_at')} as seen_at,
           greatest(0, extract(epoch from c.now - started_at))::float8 as age_seconds,
           greatest(0, extract(epoch from c.now - seen_at))::float8 as silent_seconds
    from instances, (select clock_timestamp() as now offset 0) c where seen_at > now() - ${INSTANCE_RETENTION}::interval
    order by started_at, id`.execute(db)
  return rows
}
