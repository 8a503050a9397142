import type { Pool } from 'pg'
import type { Client } from '../access-policy.ts'
import { typeOf } from './client-hints.ts'

/** What holders of tokens told of their app, by the tokens' keys. */
export type Told = ReadonlyMap<string, Client>

interface Row {
  readonly token_key: string
  readonly type: string | null
  readonly version: string | null
}

/** Whoever has not started the app for so long tells it when they do. */
const KEPT_FOR = '60 days'
/** Rows that are deleted in one statement, so that none takes long. */
const CHUNK = 5_000

/** Writes what was told just now. */
export async function saveTold(pool: Pool, told: Told): Promise<void> {
  // In one order on all instances: two that write the same rows wait for each other and do not deadlock.
  const keys = [...told.keys()].sort()
  const clients = keys.map((key) => told.get(key))
  await pool.query({
    name: 'save told clients',
    text: `insert into told_clients (token_key, type, version, told_at)
           select k, t, v, now() from unnest($1::text[], $2::text[], $3::text[]) as told (k, t, v)
           on conflict (token_key) do update
           set type = excluded.type, version = excluded.version, told_at = excluded.told_at`,
    values: [keys, clients.map((client) => client?.type ?? null), clients.map((client) => client?.version ?? null)],
  })
}

export async function findTold(pool: Pool, keys: readonly string[]): Promise<Told> {
  const { rows } = await pool.query<Row>({
    name: 'find told clients',
    text: 'select token_key, type, version from told_clients where token_key = any ($1::text[])',
    values: [keys],
  })
  return asTold(rows)
}

/** What was told within the last so many milliseconds, on all instances. */
export async function toldWithin(pool: Pool, ms: number): Promise<Told> {
  const { rows } = await pool.query<Row>({
    name: 'clients told lately',
    text: `select token_key, type, version from told_clients where told_at > now() - $1 * interval '1 millisecond'`,
    values: [ms],
  })
  return asTold(rows)
}

/** Deletes what was told too long ago. Any number of instances may do it at once. */
export async function pruneTold(pool: Pool): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      `delete from told_clients where ctid = any (array(
         select ctid from told_clients where told_at < now() - $1::interval limit ${CHUNK} for update skip locked))`,
      [KEPT_FOR],
    )
    if ((rowCount ?? 0) < CHUNK) return
  }
}

const asTold = (rows: readonly Row[]): Told =>
  new Map(rows.map(({ token_key, type, version }) => [token_key, { type: typeOf(type), version }]))
