import type { ClientBase } from 'pg'
import { setSearchPath } from '../ledger-url.ts'

/** Settings of every session of the service, whatever the defaults of the database and the role are. */
const COMMON_SETTINGS = `set timezone = 'UTC'`

/**
 * Makes a new connection find the tables of the ledger that `url` names, and runs the common settings and then
 * `settings`, SQL statements. Set by the session and not at its start: poolers in between refuse some start parameters,
 * such as `statement_timeout`.
 */
export async function prepareSession(client: Pick<ClientBase, 'query'>, url: string, settings = ''): Promise<void> {
  await client.query(`${COMMON_SETTINGS}; ${setSearchPath(url)}; ${settings}`)
}
