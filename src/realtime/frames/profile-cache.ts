import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import { type Clock, systemClock } from '../../db/async.ts'
import { isConnectionError } from '../../db/postgres-errors.ts'
import { queryByIds } from '../../db/queries/batched-lookup.ts'
import type { Tables } from '../../db/tables.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { ProfileLookups, Profiles, RequiredIds } from './frame-mapper.ts'

/** How old a name may be; one that is being read again may be served for longer. */
const MAX_AGE_MS = 1_000
const MAX_AGE_WHILE_READ_MS = 10_000
const MAX_CACHED = 10_000
/** Names are read again in the background while they are used: so long after the last use, and so many of a kind. */
const REFRESHED_AFTER_USE_MS = 60_000
const MAX_REFRESHED = 1_000

type Load<Value> = (ids: readonly number[]) => Promise<ReadonlyMap<number, Value>>

interface Entry<Value> {
  /** Undefined: there is none. */
  value: Value | undefined
  /** When it was read, by the clock. */
  readAt: number
  isBeingRead: boolean
}

/** Values by id, including the knowledge that there is none. */
class LookupCache<Value> {
  readonly #load: Load<Value>
  readonly #onError: (error: unknown) => void
  readonly #clock: Clock
  readonly #cached = new LRUCache<number, Entry<Value>>({
    max: MAX_CACHED,
    ttl: REFRESHED_AFTER_USE_MS,
    updateAgeOnGet: true,
  })
  #isRefreshing = false

  /** `onError` is called for each id that cannot be loaded; that id alone is missing from the result. */
  constructor(load: Load<Value>, onError: (error: unknown) => void, clock: Clock) {
    this.#load = load
    this.#onError = onError
    this.#clock = clock
  }

  async get(ids: ReadonlySet<number>): Promise<ReadonlyMap<number, Value>> {
    const values = new Map<number, Value>()
    const missing: number[] = []
    const now = this.#clock.now()
    for (const id of ids) {
      const entry = this.#cached.get(id)
      if (entry === undefined || now - entry.readAt > (entry.isBeingRead ? MAX_AGE_WHILE_READ_MS : MAX_AGE_MS)) {
        missing.push(id)
      } else if (entry.value !== undefined) values.set(id, entry.value)
    }
    if (missing.length === 0) return values
    const entries = missing.map((id): [number, Entry<Value>] => {
      const entry = { value: undefined, readAt: Number.NEGATIVE_INFINITY, isBeingRead: false }
      this.#cached.set(id, entry)
      return [id, entry]
    })
    for (const error of (await this.#read(entries)).values()) this.#onError(error)
    for (const [id, { value }] of entries) if (value !== undefined) values.set(id, value)
    return values
  }

  /** Reads those again that were used lately. */
  async refresh(): Promise<void> {
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    // Most recently used first.
    const entries: [number, Entry<Value>][] = []
    for (const used of this.#cached.entries()) if (entries.push(used) === MAX_REFRESHED) break
    for (const [, entry] of entries) entry.isBeingRead = true
    try {
      // What cannot be read is reported at its next use.
      if (entries.length > 0) for (const id of (await this.#read(entries)).keys()) this.#cached.delete(id)
    } finally {
      for (const [, entry] of entries) entry.isBeingRead = false
      this.#isRefreshing = false
    }
  }

  /** The next `get` reads it; a read that is under way does not count. */
  delete(id: number): void {
    this.#cached.delete(id)
  }

  /** Returns why some could not be read. */
  async #read(entries: readonly (readonly [number, Entry<Value>])[]): Promise<ReadonlyMap<number, unknown>> {
    const startedAt = this.#clock.now()
    const ids = entries.map(([id]) => id)
    const { found, failed } = await queryByIds(ids, this.#load)
    // The whole batch of events is delivered again once the database is reachable.
    for (const error of failed.values()) if (isConnectionError(error)) throw error
    for (const [id, entry] of entries) {
      entry.value = found.get(id)
      entry.readAt = startedAt
    }
    return failed
  }
}

/**
 * Loads the profiles that frames need, one query for each kind, and caches them: a change shows within a second, and
 * a person who was erased is gone with the event.
 */
export class ProfileCache {
  readonly #users: LookupCache<ProfileOf<'users'>>
  readonly #rooms: LookupCache<ProfileOf<'rooms'>>
  readonly #decorations: LookupCache<ProfileOf<'decorations'>>
  readonly #packages: LookupCache<ProfileOf<'packages'>>

  /** `onError` is called for each profile that cannot be loaded; it is missing from the result. */
  constructor(db: Kysely<Tables>, lookups: ProfileLookups, onError: (error: unknown) => void, clock = systemClock) {
    this.#users = new LookupCache((ids) => lookups.users(db, ids), onError, clock)
    this.#rooms = new LookupCache((ids) => lookups.rooms(db, ids), onError, clock)
    this.#decorations = new LookupCache((ids) => lookups.decorations(db, ids), onError, clock)
    this.#packages = new LookupCache((ids) => lookups.packages(db, ids), onError, clock)
  }

  async get(required: readonly RequiredIds[]): Promise<Profiles> {
    const [users, rooms, decorations, packages] = await Promise.all([
      this.#users.get(idsOf(required, 'users')),
      this.#rooms.get(idsOf(required, 'rooms')),
      this.#decorations.get(idsOf(required, 'decorations')),
      this.#packages.get(idsOf(required, 'packages')),
    ])
    return { users, rooms, decorations, packages }
  }

  /** Reads again what frames showed lately, so that frames need not wait for it. Called often. */
  async refresh(): Promise<void> {
    await Promise.all([this.#users, this.#rooms, this.#decorations, this.#packages].map((cache) => cache.refresh()))
  }

  /** Drops the names of people whom these events erase. Call it before frames of later events are built. */
  dropErased(events: readonly PositionedEvent[]): void {
    for (const event of events) if (event.type === 'user-forgotten') this.#users.delete(event.data.user_id)
  }
}

type ProfileOf<Kind extends keyof Profiles> =
  Profiles[Kind] extends ReadonlyMap<number, infer Profile> ? Profile : never

const idsOf = (required: readonly RequiredIds[], kind: keyof Profiles): ReadonlySet<number> =>
  new Set(required.flatMap((ids) => ids[kind] ?? []))
