import type { ClientBase, Pool } from 'pg'

/** How long an instance may be silent between two heartbeats. */
const INSTANCE_SILENCE = '30 seconds'

/** The settings of approvals that an instance started with last; null where none ever started. */
export async function readApprovalSettings(client: ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ settings: string }>('select settings from approval_settings')
  return rows[0]?.settings ?? null
}

/** Keeps the settings that an instance starts with. Answers the ones before, where instances may still run with them. */
export async function keepApprovalSettings(pool: Pool, settings: string): Promise<string | null> {
  const { rows } = await pool.query<{ settings: string }>(
    `with former as materialized (
       select settings from approval_settings
       where settings <> $1 and exists (select from instances where seen_at > now() - $2::interval)
     ), kept as (
       insert into approval_settings (settings, kept_at) values ($1, now())
       on conflict (only_row) do update set settings = excluded.settings, kept_at = excluded.kept_at
     )
     select settings from former`,
    [settings, INSTANCE_SILENCE],
  )
  return rows[0]?.settings ?? null
}
