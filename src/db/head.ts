import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** The position of the ledger's last event; 0 when there is none. */
export async function headOf(db: Kysely<Tables>): Promise<number> {
  const { position } = await db.selectFrom('ledger_head').select('position').executeTakeFirstOrThrow()
  return position
}
