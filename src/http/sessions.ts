import type { Kysely } from 'kysely'
import type { Tables } from '../db/tables.ts'
import type { Tail } from '../ledger/tail.ts'

const MOST_KNOWN = 100_000
/** Users who are looked up at a time before they come. */
const PAGE = 5_000

/** A user, and the second before which their tokens are over. */
export type Session = Pick<Tables['users'], 'user_id' | 'sessions_revoked_before'>

/**
 * Which users there are, and the second before which their tokens are over, without a query a request: a user is
 * looked up once, and again after a revocation, which is followed on the ledger. A look-up that was under way when a
 * revocation came by is not kept: it may have seen the user as before.
 */
export class Sessions {
  readonly #find: (userId: number) => Promise<number | null>
  /** As looked up. The oldest entry makes room for a new one. */
  readonly #known = new Map<number, number>()
  readonly #loading = new Map<number, Promise<number | null>>()
  /** Who was forgotten since a page of users is being looked up; undefined while none is. */
  #forgotten: Set<number> | undefined
  readonly #revoked: ((userId: number, before: number) => void)[] = []

  /** `find` answers `sessions_revoked_before` of a user, null when there is no such user. */
  constructor(find: (userId: number) => Promise<number | null>) {
    this.#find = find
  }

  /** Looks a user up again after every revocation that follows a position of before the first look-up. */
  follow(tail: Pick<Tail, 'follow'>, position: number): void {
    tail.follow(position, (events) => {
      for (const { type, data } of events) {
        if (type !== 'sessions-revoked') continue
        this.forget(data.user_id)
        for (const revoked of this.#revoked) revoked(data.user_id, data.before)
      }
    })
  }

  /** For what was let in before: tells of each revocation once the user is looked up again. */
  onRevoked(revoked: (userId: number, before: number) => void): void {
    this.#revoked.push(revoked)
  }

  /** The second before which the user's tokens are over; undefined when the user is not known here (yet). */
  over(userId: number): number | undefined {
    return this.#known.get(userId)
  }

  /** As `over`, from the database; null for a user who does not exist. Rejects when the database is away. */
  async load(userId: number): Promise<number | null> {
    let loading = this.#loading.get(userId)
    if (loading === undefined) this.#loading.set(userId, (loading = this.#find(userId)))
    let found: number | null = null
    try {
      found = await loading
      // Whoever was forgotten meanwhile may have been found as they were before.
      if (found !== null && this.#loading.get(userId) === loading) this.#keep(userId, found)
    } finally {
      if (this.#loading.get(userId) === loading) this.#loading.delete(userId)
    }
    return found
  }

  /**
   * Looks up users before they come, the newest ones first: when an instance starts, all of them come at once, and each
   * would ask by itself. `below` answers so many users with lower ids, the highest first.
   */
  async warm(below: (userId: number, most: number) => Promise<readonly Session[]>): Promise<void> {
    let lowest = Number.MAX_SAFE_INTEGER
    while (this.#known.size < MOST_KNOWN) {
      const forgotten = new Set<number>()
      this.#forgotten = forgotten
      let page: readonly Session[]
      try {
        page = await below(lowest, Math.min(PAGE, MOST_KNOWN - this.#known.size))
      } finally {
        this.#forgotten = undefined
      }
      for (const { user_id, sessions_revoked_before } of page) {
        // Whoever came in meanwhile was looked up later than this.
        if (!forgotten.has(user_id) && !this.#known.has(user_id)) this.#known.set(user_id, sessions_revoked_before)
      }
      const last = page.at(-1)
      if (last === undefined) return
      lowest = last.user_id
    }
  }

  /** Something about this user was changed just now: looks the user up again with the next request. */
  forget(userId: number): void {
    this.#known.delete(userId)
    this.#loading.delete(userId)
    this.#forgotten?.add(userId)
  }

  #keep(userId: number, before: number): void {
    const oldest = this.#known.size >= MOST_KNOWN ? this.#known.keys().next().value : undefined
    if (oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(userId, before)
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

/** Users of the database for `Sessions.warm`. */
export const usersBelow =
  (db: Kysely<Tables>) =>
  (userId: number, most: number): Promise<readonly Session[]> =>
    db
      .selectFrom('users')
      .select(['user_id', 'sessions_revoked_before'])
      .where('user_id', '<', userId)
      .orderBy('user_id', 'desc')
      .limit(most)
      .execute()
