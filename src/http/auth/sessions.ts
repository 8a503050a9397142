import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { Tail } from '../../ledger/subscriptions/tail.ts'

const MAX_SESSIONS = 100_000
/** Users who are looked up at a time before they come. */
const PRELOAD_PAGE_SIZE = 5_000

/** A user, and the second before which their tokens are over. */
export type UserSession = Pick<Tables['users'], 'user_id' | 'sessions_revoked_before'>

/** Whose tokens are over that were issued before a second. */
interface Revocation<Holder> {
  readonly holder: Holder
  readonly before: number
}

/**
 * Which holders of tokens there are, and the second before which their tokens are over, without a query a request: a
 * holder is looked up once, and again after a revocation, which is followed on the ledger. A look-up that was under way
 * when a revocation came by is not kept: it may have seen the holder as before.
 */
export class SessionCache<Holder extends number | string> {
  readonly #find: (holder: Holder) => Promise<number | null>
  readonly #revocationIn: (event: PositionedEvent) => Revocation<Holder> | null
  /** As looked up. The oldest entry makes room for a new one. */
  readonly #cache = new Map<Holder, number>()
  readonly #loading = new Map<Holder, Promise<number | null>>()
  /** Who was forgotten since a page of users is being looked up; undefined while none is. */
  #invalidated: Set<Holder> | undefined
  readonly #listeners: ((holder: Holder, before: number) => void)[] = []

  /** `find` answers the second before which a holder's tokens are over, null when there is no such holder. */
  constructor(
    find: (holder: Holder) => Promise<number | null>,
    revocationIn: (event: PositionedEvent) => Revocation<Holder> | null,
  ) {
    this.#find = find
    this.#revocationIn = revocationIn
  }

  /** Looks a holder up again after every revocation that follows a position of before the first look-up. */
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

  /** For what was let in before: tells of each revocation once the holder is looked up again. */
  onRevoked(listener: (holder: Holder, before: number) => void): void {
    this.#listeners.push(listener)
  }

  /** The second before which the holder's tokens are over; undefined when the holder is not known here (yet). */
  validAfter(holder: Holder): number | undefined {
    return this.#cache.get(holder)
  }

  /** As `over`, from the database; null for a holder who does not exist. Rejects when the database is away. */
  async load(holder: Holder): Promise<number | null> {
    let loading = this.#loading.get(holder)
    if (loading === undefined) this.#loading.set(holder, (loading = this.#find(holder)))
    let found: number | null = null
    try {
      found = await loading
      // Whoever was forgotten meanwhile may have been found as they were before.
      if (found !== null && this.#loading.get(holder) === loading) this.#store(holder, found)
    } finally {
      if (this.#loading.get(holder) === loading) this.#loading.delete(holder)
    }
    return found
  }

  /**
   * Looks up users before they come, the newest ones first: when an instance starts, all of them come at once, and each
   * would ask by itself. `below` answers so many users with lower ids, the highest first.
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
        // Whoever came in meanwhile was looked up later than this.
        if (!invalidated.has(user_id) && !this.#cache.has(user_id)) this.#cache.set(user_id, sessions_revoked_before)
      }
      const last = page.at(-1)
      if (last === undefined) return
      before = last.user_id
    }
  }

  /** Something about this holder was changed just now: looks the holder up again with the next request. */
  invalidate(holder: Holder): void {
    this.#cache.delete(holder)
    this.#loading.delete(holder)
    this.#invalidated?.add(holder)
  }

  #store(holder: Holder, before: number): void {
    const oldest = this.#cache.size >= MAX_SESSIONS ? this.#cache.keys().next().value : undefined
    if (oldest !== undefined) this.#cache.delete(oldest)
    this.#cache.set(holder, before)
  }
}

const userRevocation = ({ type, data }: PositionedEvent): Revocation<number> | null =>
  type === 'sessions-revoked' ? { holder: data.user_id, before: data.before } : null

const staffRevocation = ({ type, data }: PositionedEvent): Revocation<string> | null =>
  type === 'staff-sessions-revoked' ? { holder: data.sub, before: data.before } : null

/** Of users, of whom only those exist who were announced. */
export class Sessions extends SessionCache<number> {
  constructor(find: (userId: number) => Promise<number | null>) {
    super(find, userRevocation)
  }
}

/** Of staff, by `sub`. Nobody announces them: whose tokens were never revoked is as good as any other. */
export class StaffSessions extends SessionCache<string> {
  constructor(find: (sub: string) => Promise<number>) {
    super(find, staffRevocation)
  }
}

/** Looks users up in the database. */
export const sessionsIn = (db: Kysely<Tables>): Sessions =>
  new Sessions(async (userId) => {
    const user = await db
      .selectFrom('users')
      .select('sessions_revoked_before')
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return user?.sessions_revoked_before ?? null
  })

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

/** Users of the database for `Sessions.warm`. */
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
