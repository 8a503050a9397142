import type { Kysely } from 'kysely'
import { BatchedLookup } from '../../db/queries/batched-lookup.ts'
import { recentlyUsed } from '../../db/queries/caches.ts'
import { listOf, PreparedStatement } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { Tail } from '../../ledger/subscriptions/tail.ts'

const MAX_SESSIONS = 100_000
const PRELOAD_PAGE_SIZE = 5_000

/** A user, and the second before which their tokens are revoked. */
export type UserSession = Pick<Tables['users'], 'user_id' | 'sessions_revoked_before'>

/** A holder's tokens issued before this second are revoked. */
interface Revocation<Holder> {
  readonly holder: Holder
  readonly before: number
}

/**
 * Caches from which second on the tokens of each holder are valid, so that a request needs no query. A holder is looked
 * up once, and again after a revocation, which arrives from the ledger. A lookup in flight during a revocation is not
 * cached: it may have read the former state.
 */
class SessionCache<Holder extends number | string> {
  readonly #find: (holder: Holder) => Promise<number | null>
  readonly #revocationIn: (event: PositionedEvent) => Revocation<Holder> | null
  readonly #cache = recentlyUsed<Holder, number>(MAX_SESSIONS)
  readonly #loading = new Map<Holder, Promise<number | null>>()
  /** Holders invalidated while a page is being preloaded; undefined while none is. */
  #invalidated: Set<Holder> | undefined
  readonly #listeners: ((holder: Holder, before: number) => void)[] = []

  /** `find` resolves to the second before which a holder's tokens are revoked, null for an unknown holder. */
  constructor(
    find: (holder: Holder) => Promise<number | null>,
    revocationIn: (event: PositionedEvent) => Revocation<Holder> | null,
  ) {
    this.#find = find
    this.#revocationIn = revocationIn
  }

  /** Applies every revocation after `position`, which must not be later than the first lookup. */
  follow(tail: Pick<Tail, 'subscribe'>, position: number): void {
    tail.subscribe(position, (events) => {
      for (const event of events) {
        const revocation = this.#revocationIn(event)
        if (revocation === null) continue
        this.invalidate(revocation.holder)
        for (const listener of this.#listeners) listener(revocation.holder, revocation.before)
      }
    })
  }

  /** Calls back at each revocation, for connections that were accepted before it. */
  onRevoked(listener: (holder: Holder, before: number) => void): void {
    this.#listeners.push(listener)
  }

  /** The second before which the holder's tokens are revoked; undefined when it is not cached. */
  validAfter(holder: Holder): number | undefined {
    return this.#cache.get(holder)
  }

  /** As `validAfter`, from the database; null for an unknown holder. Rejects when the database is unreachable. */
  async load(holder: Holder): Promise<number | null> {
    let loading = this.#loading.get(holder)
    if (loading === undefined) this.#loading.set(holder, (loading = this.#find(holder)))
    let found: number | null = null
    try {
      found = await loading
      // An invalidated lookup may have read the former state.
      if (found !== null && this.#loading.get(holder) === loading) this.#cache.set(holder, found)
    } finally {
      if (this.#loading.get(holder) === loading) this.#loading.delete(holder)
    }
    return found
  }

  /**
   * Loads users in pages, newest first: when an instance starts, all clients reconnect at once, and each would need a
   * query of its own. `loadPage` resolves to at most that many users with lower ids, highest first.
   */
  async preload(
    this: SessionCache<number>,
    loadPage: (userId: number, most: number) => Promise<readonly UserSession[]>,
  ): Promise<void> {
    let before = Number.MAX_SAFE_INTEGER
    while (this.#cache.size < MAX_SESSIONS) {
      const invalidated = new Set<number>()
      this.#invalidated = invalidated
      let page: readonly UserSession[]
      try {
        page = await loadPage(before, Math.min(PRELOAD_PAGE_SIZE, MAX_SESSIONS - this.#cache.size))
      } finally {
        this.#invalidated = undefined
      }
      for (const { user_id, sessions_revoked_before } of page) {
        // A single lookup in the meantime is newer than this page.
        if (!invalidated.has(user_id) && !this.#cache.has(user_id)) this.#cache.set(user_id, sessions_revoked_before)
      }
      const last = page.at(-1)
      if (last === undefined) return
      before = last.user_id
    }
  }

  /** The holder changed: the next request looks it up again. */
  invalidate(holder: Holder): void {
    this.#cache.delete(holder)
    this.#loading.delete(holder)
    this.#invalidated?.add(holder)
  }
}

const userRevocation = ({ type, data }: PositionedEvent): Revocation<number> | null =>
  type === 'sessions-revoked' ? { holder: data.user_id, before: data.before } : null

const staffRevocation = ({ type, data }: PositionedEvent): Revocation<string> | null =>
  type === 'staff-sessions-revoked' ? { holder: data.sub, before: data.before } : null

/** Sessions of users; a user exists once an operator has defined it. */
export class Sessions extends SessionCache<number> {
  constructor(find: (userId: number) => Promise<number | null>) {
    super(find, userRevocation)
  }
}

/** Sessions of staff, by `sub`. Staff are not registered, so an unknown `sub` has no revocation. */
export class StaffSessions extends SessionCache<string> {
  constructor(find: (sub: string) => Promise<number>) {
    super(find, staffRevocation)
  }
}

const revocations = new PreparedStatement<UserSession>(
  'revocations of users',
  `select user_id, sessions_revoked_before from users where user_id = any(${listOf('$1', 'bigint')})`,
)

const MAX_USERS_PER_QUERY = 100

/** Looks users up in the database, those of one turn of the event loop with one query. */
export function sessionsIn(db: Kysely<Tables>): Sessions {
  const lookup = new BatchedLookup(MAX_USERS_PER_QUERY, async (userIds: readonly number[]) => {
    const users = await revocations.execute(db, [userIds])
    const found = new Map(users.map(({ user_id, sessions_revoked_before }) => [user_id, sessions_revoked_before]))
    return userIds.map((id) => found.get(id) ?? null)
  })
  return new Sessions((userId) => lookup.load(userId))
}

/** Looks staff up in the database. */
export const staffSessionsIn = (db: Kysely<Tables>): StaffSessions =>
  new StaffSessions(async (sub) => {
    const staff = await db
      .selectFrom('staff_sessions')
      .select('revoked_before')
      .where('sub', '=', sub)
      .executeTakeFirst()
    return staff?.revoked_before ?? 0
  })

/** Pages of users for `Sessions.preload`. */
export const usersBelow =
  (db: Kysely<Tables>) =>
  (userId: number, limit: number): Promise<readonly UserSession[]> =>
    db
      .selectFrom('users')
      .select(['user_id', 'sessions_revoked_before'])
      .where('user_id', '<', userId)
      .orderBy('user_id', 'desc')
      .limit(limit)
      .execute()
