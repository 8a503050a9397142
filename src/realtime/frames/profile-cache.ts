import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import { isConnectionError } from '../../db/connection-errors.ts'
import { queryByIds } from '../../db/queries/query-batch.ts'
import type { Tables } from '../../db/tables.ts'
import type { ProfileLookups, Profiles, RequiredIds } from './profiles.ts'

/** Names change seldom, but a change should show soon. */
const MAX_AGE_MS = 1_000
const MAX_CACHED = 10_000

type Load<Value> = (ids: readonly number[]) => Promise<ReadonlyMap<number, Value>>

/** Values by id, including the knowledge that there is none. */
class LookupCache<Value> {
  readonly #load: Load<Value>
  readonly #onError: (error: unknown) => void
  readonly #cached = new LRUCache<number, { readonly value: Value | undefined }>({ max: MAX_CACHED, ttl: MAX_AGE_MS })

  /** `onError` is called for each id that cannot be loaded; that id alone is missing from the result. */
  constructor(load: Load<Value>, onError: (error: unknown) => void) {
    this.#load = load
    this.#onError = onError
  }

  async get(ids: ReadonlySet<number>): Promise<ReadonlyMap<number, Value>> {
    const values = new Map<number, Value>()
    const missing: number[] = []
    for (const id of ids) {
      const cached = this.#cached.get(id)
      if (cached === undefined) missing.push(id)
      else if (cached.value !== undefined) values.set(id, cached.value)
    }
    if (missing.length === 0) return values
    const { found, failed } = await queryByIds(missing, this.#load)
    for (const error of failed.values()) {
      // The whole batch of events is delivered again once the database is reachable.
      if (isConnectionError(error)) throw error
      this.#onError(error)
    }
    for (const id of missing) {
      const value = found.get(id)
      this.#cached.set(id, { value })
      if (value !== undefined) values.set(id, value)
    }
    return values
  }
}

/** Loads the profiles that frames need, one query for each kind, and caches them briefly. */
export class ProfileCache {
  readonly #users: LookupCache<ProfileOf<'users'>>
  readonly #rooms: LookupCache<ProfileOf<'rooms'>>
  readonly #decorations: LookupCache<ProfileOf<'decorations'>>
  readonly #packages: LookupCache<ProfileOf<'packages'>>

  /** `onError` is called for each profile that cannot be loaded; it is missing from the result. */
  constructor(db: Kysely<Tables>, lookups: ProfileLookups, onError: (error: unknown) => void) {
    this.#users = new LookupCache((ids) => lookups.users(db, ids), onError)
    this.#rooms = new LookupCache((ids) => lookups.rooms(db, ids), onError)
    this.#decorations = new LookupCache((ids) => lookups.decorations(db, ids), onError)
    this.#packages = new LookupCache((ids) => lookups.packages(db, ids), onError)
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
}

type ProfileOf<Kind extends keyof Profiles> =
  Profiles[Kind] extends ReadonlyMap<number, infer Profile> ? Profile : never

const idsOf = (required: readonly RequiredIds[], kind: keyof Profiles): ReadonlySet<number> =>
  new Set(required.flatMap((ids) => ids[kind] ?? []))
