import { type ClientBase, escapeLiteral } from 'pg'
import { setSearchPath } from '../ledger-url.ts'

// pg reads the variables of psql, `PGSSLMODE` and `PGOPTIONS` among them. They are meant for another database than ours, and
// the addresses that we are given are whole.
for (const name of Object.keys(process.env)) if (name.startsWith('PG')) delete process.env[name]

/**
 * What a session of the service has, whatever the defaults of the server, the database and the role are, as `pg_dump`
 * does it. These are settings that any user may set.
 */
const PINNED: Readonly<Record<string, string>> = {
  // First of all: the statements after it would run into what was preset.
  statement_timeout: '0',
  // What a statement means.
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  array_nulls: 'on',
  transform_null_equals: 'off',
  quote_all_identifiers: 'off',
  gin_fuzzy_search_limit: '0',
  synchronize_seqscans: 'off',
  password_encryption: 'scram-sha-256',
  row_security: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  // How values are written and read as text.
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  timezone_abbreviations: 'Default',
  bytea_output: 'hex',
  extra_float_digits: '1',
  xmlbinary: 'base64',
  xmloption: 'content',
  lc_monetary: 'C',
  lc_numeric: 'C',
  lc_time: 'C',
  default_text_search_config: 'pg_catalog.simple',
  // How long a statement and a session last, and what ends it.
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  exit_on_error: 'off',
  client_min_messages: 'notice',
  // The session of a host that vanished, or lost its network, ends within 11 seconds, and with it its locks. By default
  // PostgreSQL keeps it for two hours, and after a few such losses has no session left for anyone.
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  // For a session that was sending: then no keepalives are sent.
  tcp_user_timeout: '11s',
  // How a statement is planned: without one of the methods it may read whole tables for one user.
  enable_seqscan: 'on',
  enable_indexscan: 'on',
  enable_indexonlyscan: 'on',
  enable_bitmapscan: 'on',
  enable_tidscan: 'on',
  enable_nestloop: 'on',
  enable_hashjoin: 'on',
  enable_mergejoin: 'on',
  enable_sort: 'on',
  enable_incremental_sort: 'on',
  enable_hashagg: 'on',
  enable_material: 'on',
  enable_memoize: 'on',
  from_collapse_limit: '8',
  join_collapse_limit: '8',
  plan_cache_mode: 'auto',
  // Compiling takes longer than the statements that it is for, whose costs are estimated far too high.
  jit: 'off',
}

/** As `PINNED`; not every version has these. */
const PINNED_WHERE_KNOWN: Readonly<Record<string, string>> = {
  restrict_nonsystem_relation_kind: '',
  transaction_timeout: '0',
  debug_parallel_query: 'off',
  force_parallel_mode: 'off',
}

const pairs = Object.entries(PINNED_WHERE_KNOWN).map((pair) => `(${pair.map(escapeLiteral).join(', ')})`)
/** A query over `pg_settings` would take longer than all of these statements. */
const PIN_ALL = `${Object.entries(PINNED)
  .map(([name, value]) => `set ${name} = ${escapeLiteral(value)}`)
  .join('; ')};
  select count(set_config(name, value, false)) from (values ${pairs.join(', ')}) as pins (name, value)
  where current_setting(name, true) is not null`

/**
 * Makes a new connection find the tables of the ledger that `url` names, and mean by every text what the service means
 * by it; then runs `settings`, SQL statements. Set by the session and not at its start: poolers in between refuse some
 * start parameters, such as `statement_timeout`.
 */
export async function prepareSession(client: Pick<ClientBase, 'query'>, url: string, settings = ''): Promise<void> {
  await client.query(`${PIN_ALL}; ${setSearchPath(url)}; ${settings}`)
}
