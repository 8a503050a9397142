import { type Kysely, sql } from 'kysely'
import type { Pool } from 'pg'
import { deleteOlderRows } from '../../db/queries/delete-older-rows.ts'
import { PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'

/** Longer than any session lasts: after that its cookie is over by itself. */
const RETENTION = '1 day'

/** Which sessions ended by signing out. Every instance asks the database, so an end holds everywhere at once. */
export interface EndedSessions {
  readonly has: (sessionId: string) => Promise<boolean>
  /** Ends a session; one that has ended stays so. */
  readonly add: (sessionId: string) => Promise<void>
}

const findEnded = new PreparedStatement<{ id: string }>(
  'ended console session',
  'select id from ended_console_sessions where id = $1',
)

export const endedSessionsIn = (db: Kysely<Tables>): EndedSessions => ({
  has: async (sessionId) => (await findEnded.execute(db, [sessionId])).length > 0,
  async add(sessionId) {
    await sql`
      insert into ended_console_sessions (id, ended_at) values (${sessionId}, now()) on conflict (id) do nothing
    `.execute(db)
  },
})

/** Deletes the rows of sessions whose cookies are over. */
export const pruneEndedSessions = (pool: Pool): Promise<void> =>
  deleteOlderRows(pool, 'ended_console_sessions', RETENTION)
