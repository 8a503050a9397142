import type { ClientBase } from 'pg'

/** Settings of every session of the service, whatever the defaults of the database and the role are. */
const COMMON_SETTINGS = `set timezone = 'UTC'`

/**
 * Runs the common settings and then `settings`, SQL statements, on a new connection. Set by the session and not at its
 * start: poolers in between refuse some start parameters, such as `statement_timeout`.
 */
export async function prepareSession(client: Pick<ClientBase, 'query'>, settings = ''): Promise<void> {
  await client.query(`${COMMON_SETTINGS}; ${settings}`)
}
