import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { SingleFlight } from '../../db/async.ts'
import type { Log } from '../../db/log.ts'
import { isReadOnlyError } from '../../db/postgres-errors.ts'
import { recentlyUsed } from '../../db/queries/caches.ts'
import { deleteOlderRows } from '../../db/queries/delete-older-rows.ts'
import { type Client, parseClientType } from './access-policy.ts'

/** Tokens in the cache; the least recently used one is evicted. */
const MAX_CACHED_CLIENTS = 100_000
/** Tokens waiting to be written, and tokens waiting to be looked up. */
const MAX_PENDING = 10_000
const MAX_ROWS_PER_WRITE = 1_000
/** Pause between two writes, so that each takes many rows. */
const WRITE_INTERVAL_MS = 20
/** Interval between polls for clients stored by other instances. */
const POLL_INTERVAL_MS = 250
/** Each poll reads this far back, because a row becomes visible only some time after its timestamp. */
const POLL_WINDOW_MS = 2_000
/** How long a request waits for the lookup of its token. */
const LOOKUP_TIMEOUT_MS = 1_000
const RETRY_DELAY_MS = 1_000
const CLEANUP_INTERVAL_MS = 3_600_000

/** A cached token: `client` is null when none is stored for it. */
export interface CachedClient {
  readonly client: Client | null
  /** When it was cached, by `performance.now()`. */
  readonly at: number
}

interface PendingLookup {
  readonly found: Promise<void>
  readonly done: () => void
}

/**
 * The client that each token last reported to `app-status`. The database has them for all instances and across
 * restarts; this is a cache of the tokens that this instance needs. Reports are cached at once and written soon after.
 * Reports to other instances arrive by polling for cached tokens, and by lookup for others.
 */
export class ClientRegistry {
  readonly #pool: Pool
  readonly #log: Log
  readonly #cache = recentlyUsed<string, CachedClient>(MAX_CACHED_CLIENTS)
  /** Reported here and not written yet: a queue, written in the order of its keys, and so no cache. */
  readonly #pendingWrites = new Map<string, Client>()
  #pendingLookups = new Map<string, PendingLookup>()
  readonly #writes = new SingleFlight(() => this.#writePending())
  readonly #polls = new SingleFlight(() => this.#poll())
  #isLookingUp = false
  #lastPollAt = performance.now()
  #isStopped = false
  #isFailing = false
  #timers: readonly NodeJS.Timeout[] = []

  constructor(pool: Pool, log: Log) {
    this.#pool = pool
    this.#log = log
  }

  start(): void {
    this.#timers = [
      setInterval(() => void this.#polls.run(), POLL_INTERVAL_MS),
      setInterval(() => void deleteExpiredClients(this.#pool).catch(this.#logFailure), CLEANUP_INTERVAL_MS),
    ]
  }

  /** Writes pending reports once more; they are lost if that fails. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#writes.running
    if (this.#pendingWrites.size > 0) await saveClients(this.#pool, this.#pendingWrites).catch(this.#logFailure)
  }

  /** Undefined for a token that is not cached; `load` looks it up. */
  get(key: string): CachedClient | undefined {
    return this.#cache.get(key)
  }

  /** Records the client that a token reported. */
  record(key: string, client: Client): void {
    this.#cacheClient(key, client)
    const [oldest] = this.#pendingWrites.keys()
    if (this.#pendingWrites.size >= MAX_PENDING && oldest !== undefined) this.#pendingWrites.delete(oldest)
    this.#pendingWrites.set(key, client)
    void this.#writes.run()
  }

  /** Looks a token up, for `get`. Resolves without a result when the database does not answer in time. */
  async load(key: string): Promise<void> {
    let lookUp = this.#pendingLookups.get(key)
    if (lookUp === undefined) {
      if (this.#pendingLookups.size >= MAX_PENDING) return
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#pendingLookups.set(key, (lookUp = { found: promise, done: resolve }))
      void this.#loadPending()
    }
    const timer = new AbortController()
    const timeout = sleep(LOOKUP_TIMEOUT_MS, undefined, { signal: timer.signal }).catch(() => {})
    // Each request waits for its own full time: one that gives up must not end the wait of those that came later.
    await Promise.race([lookUp.found, timeout])
    timer.abort()
  }

  /**
   * One query at a time, for all tokens requested in the meantime. The flag falls in the turn that finds none: a token
   * requested after that starts another run.
   */
  async #loadPending(): Promise<void> {
    if (this.#isLookingUp) return
    this.#isLookingUp = true
    while (this.#pendingLookups.size > 0) {
      const lookups = this.#pendingLookups
      this.#pendingLookups = new Map()
      const keys = [...lookups.keys()]
      try {
        const found = await findClients(this.#pool, keys)
        for (const key of keys) this.#cacheStored(key, found.get(key) ?? null)
      } catch (error) {
        this.#logFailure(error)
      }
      for (const { done } of lookups.values()) done()
    }
    this.#isLookingUp = false
  }

  async #writePending(): Promise<void> {
    while (this.#pendingWrites.size > 0 && !this.#isStopped) {
      const batch: ClientsByKey = new Map([...this.#pendingWrites].slice(0, MAX_ROWS_PER_WRITE))
      try {
        await saveClients(this.#pool, batch)
        for (const [key, client] of batch) if (this.#pendingWrites.get(key) === client) this.#pendingWrites.delete(key)
        await sleep(WRITE_INTERVAL_MS)
      } catch (error) {
        // A standby stores none; this instance has them cached.
        if (isReadOnlyError(error)) {
          this.#pendingWrites.clear()
          return
        }
        this.#logFailure(error)
        await sleep(RETRY_DELAY_MS)
      }
    }
  }

  /** Updates cached tokens with reports to other instances. */
  async #poll(): Promise<void> {
    const startedAt = performance.now()
    try {
      const recent = await findRecentClients(this.#pool, POLL_WINDOW_MS)
      // After a longer gap some reports were missed: every token has to be looked up again.
      if (startedAt - this.#lastPollAt > POLL_WINDOW_MS / 2) this.#cache.clear()
      this.#lastPollAt = startedAt
      this.#isFailing = false
      for (const [key, client] of recent) if (this.#cache.has(key)) this.#cacheStored(key, client)
    } catch (error) {
      this.#logFailure(error)
    }
  }

  /** Caches what the database returned, unless a newer report is pending here. */
  #cacheStored(key: string, client: Client | null): void {
    this.#cacheClient(key, this.#pendingWrites.get(key) ?? client)
  }

  #cacheClient(key: string, client: Client | null): void {
    this.#cache.set(key, { client, at: performance.now() })
  }

  /** Logs the first failure of an outage only. */
  readonly #logFailure = (err: unknown): void => {
    if (!this.#isFailing) {
      this.#log.warn({ err }, 'client registry failing; retrying, tokens that are not cached count as unidentified')
    }
    this.#isFailing = true
  }
}

/** Clients by the keys of their tokens. */
type ClientsByKey = ReadonlyMap<string, Client>

interface Row {
  readonly token_key: string
  readonly type: string | null
  readonly version: string | null
}

/** Older rows are deleted: a client reports itself again when the app starts. */
const CLIENT_RETENTION = '60 days'

/** Stores clients, with the current time. */
async function saveClients(pool: Pool, clientsByKey: ClientsByKey): Promise<void> {
  // Sorted, so that instances that write the same rows wait for each other instead of deadlocking.
  const keys = [...clientsByKey.keys()].sort()
  const clients = keys.map((key) => clientsByKey.get(key))
  await pool.query({
    name: 'save clients',
    text: `insert into told_clients (token_key, type, version, told_at)
           select k, t, v, now() from unnest($1::text[], $2::text[], $3::text[]) as client (k, t, v)
           on conflict (token_key) do update
           set type = excluded.type, version = excluded.version, told_at = excluded.told_at`,
    values: [keys, clients.map((client) => client?.type ?? null), clients.map((client) => client?.version ?? null)],
  })
}

async function findClients(pool: Pool, keys: readonly string[]): Promise<ClientsByKey> {
  const { rows } = await pool.query<Row>({
    name: 'find clients',
    text: 'select token_key, type, version from told_clients where token_key = any ($1::text[])',
    values: [keys],
  })
  return toClientsByKey(rows)
}

/** Clients stored by any instance within the last `ms` milliseconds. */
async function findRecentClients(pool: Pool, ms: number): Promise<ClientsByKey> {
  const { rows } = await pool.query<Row>({
    name: 'find recent clients',
    text: `select token_key, type, version from told_clients where told_at > now() - $1 * interval '1 millisecond'`,
    values: [ms],
  })
  return toClientsByKey(rows)
}

/** Deletes clients beyond their retention. Safe to run on several instances at once. */
const deleteExpiredClients = (pool: Pool): Promise<void> => deleteOlderRows(pool, 'told_clients', CLIENT_RETENTION)

const toClientsByKey = (rows: readonly Row[]): ClientsByKey =>
  new Map(rows.map(({ token_key, type, version }) => [token_key, { type: parseClientType(type), version }]))
