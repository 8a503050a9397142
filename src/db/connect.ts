import { randomUUID } from 'node:crypto'
import { Client, type ClientBase, type ClientConfig, escapeLiteral } from 'pg'
import { loopTimeout } from './async.ts'
import { setSearchPath } from './ledger-url.ts'
import { sqlStateOf } from './postgres-errors.ts'

const TIMEOUT_MS = 3_000
const KEEPALIVE_DELAY_MS = 5_000

/** With `query_timeout` only in pipeline mode: else pg does not give up a connection whose server has stopped responding. */
interface ConnectOptions extends Pick<ClientConfig, 'pipeline' | 'query_timeout' | 'types'> {
  /** For the login and the session's settings, while the event loop turns; 3 seconds by default. */
  readonly timeoutMs?: number
  /** When it is aborted the connection is cut, so that whatever waits for it ends. */
  readonly signal?: AbortSignal
  /** SQL statements that the session begins with. */
  readonly settings?: string
}

/**
 * Opens one connection outside of any pool, to the schema that the connection string names. When it breaks, it emits
 * `end` and its next query fails.
 */
export async function connect(
  url: string,
  applicationName: string,
  { timeoutMs = TIMEOUT_MS, signal, settings, ...driver }: ConnectOptions = {},
): Promise<Client> {
  signal?.throwIfAborted()
  const client = new Client({
    ...driver,
    connectionString: url,
    application_name: applicationName,
    // A server whose host has vanished ends no connection: the kernel finds out, in minutes.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY_MS,
  })
  // Without a listener a broken connection would end the process.
  client.on('error', () => {})
  const cut = (reason?: Error): void => void client.connection.stream.destroy(reason)
  const onAbort = (): void => cut()
  signal?.addEventListener('abort', onAbort, { once: true })
  client.once('end', () => signal?.removeEventListener('abort', onAbort))
  const cancel = loopTimeout(() => cut(new Error('timeout expired')), timeoutMs)
  try {
    await client.connect()
    await prepareSession(client, url, settings)
    return client
  } catch (error) {
    cut()
    throw error
  } finally {
    cancel()
  }
}

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

/** A pooler that hands the connections out in turn may give one back by chance. */
const ROUNDS = 5
/** How a pooler refuses BEGIN when it pools statements. */
const PROTOCOL_VIOLATION = '08P01'

/** The connections of a pooler share sessions: what one sets, another finds, or does not find again itself. */
export class SharedSession extends Error {
  override readonly name = 'SharedSession'

  constructor(options?: ErrorOptions) {
    super(
      'a pooler in between shares sessions among transactions (as PgBouncer with pool_mode transaction or statement), ' +
        'but prepared statements, settings and locks need a session of their own. Set pool_mode to session for this ' +
        'database and user, or give the address of PostgreSQL itself.',
      options,
    )
  }
}

/**
 * Throws a SharedSession when a session does not keep what is set in it: while a second connection has a transaction
 * open, the first one must find its own setting, and the second must not.
 */
export async function assertOwnSession(url: string, applicationName: string, signal?: AbortSignal): Promise<void> {
  await using closing = new AsyncDisposableStack()
  const open = async (): Promise<Client> => {
    const client = await connect(url, applicationName, signal && { signal })
    closing.defer(() => client.end())
    return client
  }
  const first = await open()
  const second = await open()
  const marker = randomUUID()
  await first.query(`select set_config('economy.session', $1, false)`, [marker])
  for (let round = 0; round < ROUNDS; round += 1) {
    await begin(second)
    // Asked first: from a pool of one connection the first would get no answer now.
    if ((await markerOf(second)) === marker) throw new SharedSession()
    if ((await markerOf(first)) !== marker) throw new SharedSession()
    await second.query('rollback')
  }
}

async function begin(client: Client): Promise<void> {
  try {
    await client.query('begin')
  } catch (error) {
    if (sqlStateOf(error) === PROTOCOL_VIOLATION) throw new SharedSession({ cause: error })
    throw error
  }
}

async function markerOf(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ marker: string | null }>(
    `select current_setting('economy.session', true) as marker`,
  )
  return rows[0]?.marker ?? null
}

/** An SQL condition: whether the database is a node of a Citus cluster. */
export const IS_CITUS = `exists (select from pg_extension where extname = 'citus')`
