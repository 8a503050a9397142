import type { ClientBase } from 'pg'
import { setSearchPath } from '../ledger-url.ts'

/**
 * Settings of every session of the service, whatever the defaults of the database and the role are. The session of a host
 * that vanished, or lost its network, ends within 11 seconds, and with it its locks. By default PostgreSQL keeps it for
 * two hours, and after a few such losses has no session left for anyone.
 */
const COMMON_SETTINGS = `set timezone = 'UTC';
  set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3;
  -- For a session that was sending: then no keepalives are sent.
  set tcp_user_timeout = '11s'`

/**
 * Makes a new connection find the tables of the ledger that `url` names, and runs the common settings and then
 * `settings`, SQL statements. Set by the session and not at its start: poolers in between refuse some start parameters,
 * such as `statement_timeout`.
 */
export async function prepareSession(client: Pick<ClientBase, 'query'>, url: string, settings = ''): Promise<void> {
  await client.query(`${COMMON_SETTINGS}; ${setSearchPath(url)}; ${settings}`)
}
