import type { Pool } from 'pg'
import { deleteOlderRows } from '../../../db/queries/delete-older-rows.ts'
import type { Client } from '../access-policy.ts'
import { parseClientType } from './client-hints.ts'

/** Clients by the keys of their tokens. */
export type ClientsByKey = ReadonlyMap<string, Client>

interface Row {
  readonly token_key: string
  readonly type: string | null
  readonly version: string | null
}

/** Older rows are deleted: a client reports itself again when the app starts. */
const CLIENT_RETENTION = '60 days'

/** Stores clients, with the current time. */
export async function saveClients(pool: Pool, clientsByKey: ClientsByKey): Promise<void> {
  // Sorted, so that instances that write the same rows wait for each other instead of deadlocking.
  const keys = [...clientsByKey.keys()].sort()
  const clients = keys.map((key) => clientsByKey.get(key))
  await pool.query({
    name: 'save clients',
    text: `insert into told_clients (token_key, type, version, told_at)
           select k, t, v, now() from unnest($1::text[], $2::text[], $3::text[]) as client (k, t, v)
           on conflict (token_key) do update
           set type = excluded.type, version = excluded.version, told_at = excluded.told_at`,
    values: [keys, clients.map((client) => client?.type ?? null), clients.map((client) => client?.version ?? null)],
  })
}

export async function findClients(pool: Pool, keys: readonly string[]): Promise<ClientsByKey> {
  const { rows } = await pool.query<Row>({
    name: 'find clients',
    text: 'select token_key, type, version from told_clients where token_key = any ($1::text[])',
    values: [keys],
  })
  return toClientsByKey(rows)
}

/** Clients stored by any instance within the last `ms` milliseconds. */
export async function findRecentClients(pool: Pool, ms: number): Promise<ClientsByKey> {
  const { rows } = await pool.query<Row>({
    name: 'find recent clients',
    text: `select token_key, type, version from told_clients where told_at > now() - $1 * interval '1 millisecond'`,
    values: [ms],
  })
  return toClientsByKey(rows)
}

/** Deletes clients beyond their retention. Safe to run on several instances at once. */
export const deleteExpiredClients = (pool: Pool): Promise<void> =>
  deleteOlderRows(pool, 'told_clients', CLIENT_RETENTION)

const toClientsByKey = (rows: readonly Row[]): ClientsByKey =>
  new Map(rows.map(({ token_key, type, version }) => [token_key, { type: parseClientType(type), version }]))
