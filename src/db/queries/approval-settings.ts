import type { ClientBase, Pool } from 'pg'

/** Longer than an instance is silent between two heartbeats. */
const INSTANCE_SILENCE = '30 seconds'
/** Longer than a start takes from keeping its settings to its first heartbeat. */
const START = '10 seconds'

/** The settings of approvals that instances run with, or ran with last; null where none ever started. */
export async function readApprovalSettings(client: ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ settings: string }>('select settings from approval_settings')
  return rows[0]?.settings ?? null
}

/**
 * Keeps the settings that an instance starts with. Answers those that others run with where they differ; then nothing is
 * kept. On a standby they are only compared.
 */
export async function keepApprovalSettings(pool: Pool, settings: string, isStandby: boolean): Promise<string | null> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    // Of instances that start at once, one after the other.
    if (!isStandby) await client.query('lock table approval_settings in share row exclusive mode')
    const { rows } = await client.query<{ settings: string }>(
      `select settings from approval_settings
       where settings <> $1
         and (kept_at > now() - $2::interval
              or exists (select from instances where seen_at > now() - $3::interval))`,
      [settings, START, INSTANCE_SILENCE],
    )
    const others = rows[0]?.settings ?? null
    if (others === null && !isStandby) {
      await client.query(
        `insert into approval_settings (settings, kept_at) values ($1, now())
         on conflict (only_row) do update set settings = excluded.settings, kept_at = excluded.kept_at`,
        [settings],
      )
    }
    await client.query('commit')
    return others
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.release()
  }
}
