import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Log } from '../../../db/log.ts'
import type { Client } from '../access-policy.ts'
import { findTold, pruneTold, saveTold, type Told, toldWithin } from './client-rows.ts'

/** Tokens whose clients are known here; the one that was learned of first makes room. */
const MOST_KNOWN = 100_000
/** Tokens whose clients wait to be written, or to be looked up. */
const MOST_WAITING = 10_000
/** Rows of one statement. */
const CHUNK = 1_000
/** Between two writes, so that many of them go together. */
const PACE_MS = 20
/** How often instances ask what was told to the others. */
const POLL_MS = 250
/** They ask for more than that, since a row is seen a moment after its time. */
const OVERLAP_MS = 2_000
/** How long a request may wait for what its token is known for. */
const PATIENCE_MS = 1_000
const RETRY_MS = 1_000
const PRUNE_MS = 3_600_000

/** What is known of a token: `client` is null when nothing was told with it. */
export interface Known {
  readonly client: Client | null
  /** When the database said so, as `performance.now()` tells it. */
  readonly at: number
}

interface LookUp {
  readonly found: Promise<void>
  readonly done: () => void
}

/**
 * What the holders of tokens last told of their app. It stands in the database, for all instances and over restarts;
 * here is what this instance has needed of it. What is told is known here at once and written soon after; what was told
 * to other instances arrives within a moment, for tokens that are known here, and is looked up for others.
 */
export class ToldClients {
  readonly #pool: Pool
  readonly #log: Log
  readonly #known = new Map<string, Known>()
  /** Told here and not written yet. */
  readonly #unwritten = new Map<string, Client>()
  #lookUps = new Map<string, LookUp>()
  #writing: Promise<void> | undefined
  #lookingUp = false
  #polling = false
  #polled = performance.now()
  #stopped = false
  #troubled = false
  #timers: readonly NodeJS.Timeout[] = []

  constructor(pool: Pool, log: Log) {
    this.#pool = pool
    this.#log = log
  }

  start(): void {
    this.#timers = [
      setInterval(() => void this.#poll(), POLL_MS),
      setInterval(() => void pruneTold(this.#pool).catch(this.#trouble), PRUNE_MS),
    ]
  }

  /** Writes what is not written yet, if the database takes it now. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#writing
    if (this.#unwritten.size > 0) await saveTold(this.#pool, this.#unwritten).catch(this.#trouble)
  }

  /** Undefined for a token that has to be looked up. */
  known(key: string): Known | undefined {
    return this.#known.get(key)
  }

  /** The holder of a token told what their app is. */
  tell(key: string, client: Client): void {
    this.#learn(key, client)
    if (this.#unwritten.size >= MOST_WAITING) dropOldest(this.#unwritten)
    this.#unwritten.set(key, client)
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined))
  }

  /** Asks the database for a token; then `known` tells. Leaves it at that when the database does not answer in time. */
  async lookUp(key: string): Promise<void> {
    let lookUp = this.#lookUps.get(key)
    if (lookUp === undefined) {
      if (this.#lookUps.size >= MOST_WAITING) return
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#lookUps.set(key, (lookUp = { found: promise, done: resolve }))
      void this.#lookUpAll()
    }
    const { done } = lookUp
    const patience = setTimeout(done, PATIENCE_MS)
    await lookUp.found
    clearTimeout(patience)
  }

  /** One query at a time, for all who asked meanwhile. */
  async #lookUpAll(): Promise<void> {
    if (this.#lookingUp) return
    this.#lookingUp = true
    while (this.#lookUps.size > 0) {
      const asked = this.#lookUps
      this.#lookUps = new Map()
      const keys = [...asked.keys()]
      try {
        const found = await findTold(this.#pool, keys)
        for (const key of keys) this.#hear(key, found.get(key) ?? null)
      } catch (error) {
        this.#trouble(error)
      }
      for (const { done } of asked.values()) done()
    }
    this.#lookingUp = false
  }

  async #write(): Promise<void> {
    while (this.#unwritten.size > 0 && !this.#stopped) {
      const told: Told = new Map([...this.#unwritten].slice(0, CHUNK))
      try {
        await saveTold(this.#pool, told)
        for (const [key, client] of told) if (this.#unwritten.get(key) === client) this.#unwritten.delete(key)
        await sleep(PACE_MS)
      } catch (error) {
        this.#trouble(error)
        await sleep(RETRY_MS)
      }
    }
  }

  /** Learns what was told to other instances. */
  async #poll(): Promise<void> {
    if (this.#polling) return
    this.#polling = true
    const asked = performance.now()
    try {
      const told = await toldWithin(this.#pool, OVERLAP_MS)
      // After a longer silence some of it was missed: everything is looked up again.
      if (asked - this.#polled > OVERLAP_MS / 2) this.#known.clear()
      this.#polled = asked
      this.#troubled = false
      for (const [key, client] of told) if (this.#known.has(key)) this.#hear(key, client)
    } catch (error) {
      this.#trouble(error)
    } finally {
      this.#polling = false
    }
  }

  /** What the database says; what was told here meanwhile is newer. */
  #hear(key: string, client: Client | null): void {
    this.#learn(key, this.#unwritten.get(key) ?? client)
  }

  #learn(key: string, client: Client | null): void {
    if (this.#known.size >= MOST_KNOWN && !this.#known.has(key)) dropOldest(this.#known)
    this.#known.set(key, { client, at: performance.now() })
  }

  /** Told once, until the database has answered again. */
  readonly #trouble = (err: unknown): void => {
    if (!this.#troubled) {
      this.#log.warn({ err }, 'what clients told of themselves could not be written or read; trying again')
    }
    this.#troubled = true
  }
}

function dropOldest(map: Map<string, unknown>): void {
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}
