import type { Kysely } from 'kysely'
import { databaseIsAway } from '../../db/connection-errors.ts'
import { queryByIds } from '../../db/query-batch.ts'
import type { Tables } from '../../db/tables.ts'
import type { ProfileLookups, Profiles, RequiredIds } from './frame-mapper.ts'

/** Words may be so old: names change seldom, and a change is to be seen soon. */
const MAX_AGE_MS = 1_000
/** Words that are remembered of a kind; beyond, all are looked up again. */
const MAX_CACHED = 10_000

type Load<Word> = (ids: readonly number[]) => Promise<ReadonlyMap<number, Word>>

/** Words of one kind by their ids. */
class LookupCache<Word> {
  readonly #load: Load<Word>
  readonly #onError: (error: unknown) => void
  readonly #cached = new Map<number, { readonly until: number; readonly word: Word | undefined }>()

  /** `unreadable` hears of ids that cannot be looked up: they are missing, and nothing else is. */
  constructor(look: Load<Word>, unreadable: (error: unknown) => void) {
    this.#load = look
    this.#onError = unreadable
  }

  async get(ids: ReadonlySet<number>): Promise<ReadonlyMap<number, Word>> {
    const now = performance.now()
    const words = new Map<number, Word>()
    const unknown: number[] = []
    for (const id of ids) {
      const known = this.#cached.get(id)
      if (known === undefined || known.until < now) unknown.push(id)
      else if (known.word !== undefined) words.set(id, known.word)
    }
    if (unknown.length === 0) return words
    const { found, failed } = await queryByIds(unknown, this.#load)
    for (const error of failed.values()) {
      // All of them come again when it is back.
      if (databaseIsAway(error)) throw error
      this.#onError(error)
    }
    if (this.#cached.size + unknown.length > MAX_CACHED) this.#cached.clear()
    for (const id of unknown) {
      const word = found.get(id)
      this.#cached.set(id, { until: now + MAX_AGE_MS, word })
      if (word !== undefined) words.set(id, word)
    }
    return words
  }
}

/** Looks up what announcements want, all at once, and remembers it for a moment. */
export class ProfileCache {
  readonly #users: LookupCache<ProfileOf<'users'>>
  readonly #rooms: LookupCache<ProfileOf<'rooms'>>
  readonly #decorations: LookupCache<ProfileOf<'decorations'>>
  readonly #packages: LookupCache<ProfileOf<'packages'>>

  /** `unreadable` hears of what cannot be looked up and is missing therefore. */
  constructor(db: Kysely<Tables>, lookups: ProfileLookups, unreadable: (error: unknown) => void) {
    this.#users = new LookupCache((ids) => lookups.users(db, ids), unreadable)
    this.#rooms = new LookupCache((ids) => lookups.rooms(db, ids), unreadable)
    this.#decorations = new LookupCache((ids) => lookups.decorations(db, ids), unreadable)
    this.#packages = new LookupCache((ids) => lookups.packages(db, ids), unreadable)
  }

  async get(wanted: readonly RequiredIds[]): Promise<Profiles> {
    const [users, rooms, decorations, packages] = await Promise.all([
      this.#users.get(idsOf(wanted, 'users')),
      this.#rooms.get(idsOf(wanted, 'rooms')),
      this.#decorations.get(idsOf(wanted, 'decorations')),
      this.#packages.get(idsOf(wanted, 'packages')),
    ])
    return { users, rooms, decorations, packages }
  }
}

type ProfileOf<Kind extends keyof Profiles> = Profiles[Kind] extends ReadonlyMap<number, infer Word> ? Word : never

const idsOf = (wanted: readonly RequiredIds[], kind: keyof Profiles): ReadonlySet<number> =>
  new Set(wanted.flatMap((wants) => wants[kind] ?? []))
