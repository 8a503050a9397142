import type { Client, QueryResult, QueryResultRow } from 'pg'
import { loopTimeout } from '../db/async.ts'
import { connect } from '../db/connect.ts'
import { lockName } from '../db/ledger-url.ts'
import { sha256 } from '../ledger/rules/hash.ts'

/** The writer speaks to PostgreSQL this often. */
const PING_INTERVAL_MS = 250
/** A writer that PostgreSQL has not heard for so long hangs, or has lost its network. */
const MAX_SILENCE_MS = 1_000
const QUERY_TIMEOUT_MS = 1_000

/** Instances of other versions take the same lock: its name must stay. */
const LOCK_NAME = 'ledger writer'
const LOCK = `hashtextextended($1, 0)`

/**
 * Who owns the lock, and for how many milliseconds PostgreSQL has heard nothing of that session: null when it does not
 * tell, as for another role or with `track_activities = off`.
 */
const findOwner = `
  select a.pid, a.backend_start, extract(epoch from clock_timestamp() - a.state_change) * 1000 as silence
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and l.classid = ((${LOCK} >> 32) & 4294967295)::oid and l.objid = (${LOCK} & 4294967295)::oid`

const endSilentOwner = `
  with owner as (${findOwner})
  select pg_terminate_backend(pid) from owner where silence > ${MAX_SILENCE_MS}`

/** The writer that advertised itself, if its session has the lock and it does not seem to hang. */
const findOwningWriter = `
  select writer, address from ledger_writer w join (${findOwner}) o on o.pid = w.pid and o.backend_start = w.session_start
  where silence < ${MAX_SILENCE_MS / 2}`

/** What the writer says of itself. */
export interface AdvertisedWriter {
  readonly writer: string
  /** `<host>:<port>` for instances on other hosts. */
  readonly address: string | null
}

/**
 * A connection of its own for the lock that makes an instance the writer. PostgreSQL releases the lock when the process
 * ends; of one that hangs, or is cut off, another instance ends the session.
 */
export class WriterLock {
  readonly #client: Client
  readonly #name: string
  #isLost = false
  #heardAt = 0
  readonly #ping: NodeJS.Timeout
  /** Resolves when the connection is lost. */
  readonly lost: Promise<void>

  private constructor(client: Client, url: string) {
    this.#client = client
    this.#name = lockName(url, LOCK_NAME)
    this.#ping = setInterval(() => void this.#speak(), PING_INTERVAL_MS)
    this.lost = new Promise((resolve) => {
      const lose = (): void => {
        this.#isLost = true
        clearInterval(this.#ping)
        resolve()
      }
      client.on('error', lose)
      client.on('end', lose)
    })
  }

  /** Throws when the database cannot be reached within 3 seconds. */
  static async connect(url: string): Promise<WriterLock> {
    return new WriterLock(await connect(url, 'ledger election', { pipeline: true }), url)
  }

  get isLost(): boolean {
    return this.#isLost
  }

  /** Whether the lock was owned a moment ago: a process that was suspended may have lost it since. */
  get isFresh(): boolean {
    return !this.#isLost && performance.now() - this.#heardAt < MAX_SILENCE_MS
  }

  /** Takes the lock, if nobody has it, and keeps it until the connection is lost or closed. */
  async tryAcquire(): Promise<boolean> {
    const askedAt = performance.now()
    const { rows } = await this.#query<{ mine: boolean }>(
      // A standby would give the lock, too.
      `select case when pg_is_in_recovery() then false else pg_try_advisory_lock(${LOCK}) end as mine`,
      [this.#name],
    )
    this.#heardAt = askedAt
    return rows[0]?.mine === true
  }

  /** Gives the lock back. */
  async release(): Promise<void> {
    await this.#query(`select pg_advisory_unlock(${LOCK})`, [this.#name])
  }

  /** Lets other instances find this one. */
  async advertise({ writer, address }: AdvertisedWriter): Promise<void> {
    await this.#query(
      `insert into ledger_writer (writer, address, pid, session_start)
       select $1, $2, pid, backend_start from pg_stat_activity where pid = pg_backend_pid()
       on conflict (only_row) do update set writer = excluded.writer, address = excluded.address,
         pid = excluded.pid, session_start = excluded.session_start, elected_at = now()`,
      [writer, address],
    )
  }

  /** The writer that owns the lock on this database, once it has advertised itself. */
  async findWriter(): Promise<AdvertisedWriter | null> {
    const { rows } = await this.#query<AdvertisedWriter>(findOwningWriter, [this.#name])
    return rows[0] ?? null
  }

  /** Ends the session of a writer that PostgreSQL has not heard for too long, and answers whether there was one. */
  async endSilentWriter(): Promise<boolean> {
    const { rows } = await this.#query(endSilentOwner, [this.#name])
    return rows.length > 0
  }

  /** Names database and schema, for files that instances of several ledgers may share a folder for. */
  async ledgerName(): Promise<string> {
    const { rows } = await this.#query<{ name: string }>(`select current_database() || '.' || current_schema() as name`)
    return sha256(rows[0]?.name ?? '').slice(0, 8)
  }

  /** Drops the connection, and with it the lock. */
  cut(): void {
    this.#isLost = true
    clearInterval(this.#ping)
    this.#client.connection.stream.destroy()
  }

  async close(): Promise<void> {
    clearInterval(this.#ping)
    const timeout = setTimeout(() => this.cut(), QUERY_TIMEOUT_MS)
    await this.#client.end().catch(() => {})
    clearTimeout(timeout)
  }

  /** Cuts the connection when the server does not answer, while the event loop turns. */
  async #query<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<QueryResult<Row>> {
    const cancel = loopTimeout(() => this.cut(), QUERY_TIMEOUT_MS)
    try {
      return await this.#client.query<Row>(text, [...values])
    } finally {
      cancel()
    }
  }

  async #speak(): Promise<void> {
    const askedAt = performance.now()
    try {
      await this.#query('select 1')
      this.#heardAt = askedAt
    } catch {
      this.cut()
    }
  }
}
