import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../../db/tables.ts'

/** A user's last privilege. */
export interface RunningPrivilege {
  readonly privilege_package_id: number
  readonly name: string
  readonly rank: number
  /** Seconds since 1970. */
  readonly valid_until: number
  /** By the clock that commands go by: the later of the database's and the ledger's last event. */
  readonly is_active: boolean
}

/** Active or expired; undefined for a user who never had one. */
export async function readPrivilege(db: Kysely<Tables>, user: number): Promise<RunningPrivilege | undefined> {
  const { rows } = await sql<RunningPrivilege>`
    select r.privilege_package_id, k.name, r.rank, r.valid_until,
           r.valid_until > (select extract(epoch from greatest(clock_timestamp(), at)) from ledger_head) as is_active
    from privileges r join privilege_packages k on k.privilege_package_id = r.privilege_package_id
    where r.user_id = ${user}`.execute(db)
  return rows[0]
}
