import type { Pool } from 'pg'
import type { Client } from '../access-policy.ts'
import { parseClientType } from './client-hints.ts'

/** What holders of tokens told of their app, by the tokens' keys. */
export type ClientsByKey = ReadonlyMap<string, Client>

interface Row {
  readonly token_key: string
  readonly type: string | null
  readonly version: string | null
}

/** Whoever has not started the app for so long tells it when they do. */
const CLIENT_RETENTION = '60 days'
/** Rows that are deleted in one statement, so that none takes long. */
const MAX_ROWS_PER_DELETE = 5_000

/** Writes what was told just now. */
export async function saveClients(pool: Pool, clientsByKey: ClientsByKey): Promise<void> {
  // In one order on all instances: two that write the same rows wait for each other and do not deadlock.
  const keys = [...clientsByKey.keys()].sort()
  const clients = keys.map((key) => clientsByKey.get(key))
  await pool.query({
    name: 'save told clients',
    text: `insert into told_clients (token_key, type, version, told_at)
           select k, t, v, now() from unnest($1::text[], $2::text[], $3::text[]) as told (k, t, v)
           on conflict (token_key) do update
           set type = excluded.type, version = excluded.version, told_at = excluded.told_at`,
    values: [keys, clients.map((client) => client?.type ?? null), clients.map((client) => client?.version ?? null)],
  })
}

export async function findClients(pool: Pool, keys: readonly string[]): Promise<ClientsByKey> {
  const { rows } = await pool.query<Row>({
    name: 'find told clients',
    text: 'select token_key, type, version from told_clients where token_key = any ($1::text[])',
    values: [keys],
  })
  return toClientsByKey(rows)
}

/** What was told within the last so many milliseconds, on all instances. */
export async function findRecentClients(pool: Pool, ms: number): Promise<ClientsByKey> {
  const { rows } = await pool.query<Row>({
    name: 'clients told lately',
    text: `select token_key, type, version from told_clients where told_at > now() - $1 * interval '1 millisecond'`,
    values: [ms],
  })
  return toClientsByKey(rows)
}

/** Deletes what was told too long ago. Any number of instances may do it at once. */
export async function deleteExpiredClients(pool: Pool): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(
      `delete from told_clients where ctid = any (array(
         select ctid from told_clients where told_at < now() - $1::interval limit ${MAX_ROWS_PER_DELETE} for update skip locked))`,
      [CLIENT_RETENTION],
    )
    if ((rowCount ?? 0) < MAX_ROWS_PER_DELETE) return
  }
}

const toClientsByKey = (rows: readonly Row[]): ClientsByKey =>
  new Map(rows.map(({ token_key, type, version }) => [token_key, { type: parseClientType(type), version }]))
