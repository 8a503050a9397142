import type { Kysely } from 'kysely'
import type { Tables } from '../db/tables.ts'
import type { Tail } from '../ledger/tail.ts'

const MOST_KNOWN = 100_000

/**
 * Which users there are, and the second before which their tokens are over, without a query a request: a user is
 * looked up once, and revocations are followed on the ledger. Whoever is looked up at any time sees all revocations up
 * to where the following began, so that none can fall between the two.
 */
export class Sessions {
  readonly #find: (userId: number) => Promise<number | null>
  /** As looked up. The oldest entry makes room for a new one. */
  readonly #known = new Map<number, number>()
  /** As followed; kept for good. */
  readonly #revoked = new Map<number, number>()
  readonly #loading = new Map<number, Promise<number | null>>()

  /** `find` answers `sessions_revoked_before` of a user, null when there is no such user. */
  constructor(find: (userId: number) => Promise<number | null>) {
    this.#find = find
  }

  /** Takes in every revocation after a position that the ledger had before the first user was looked up. */
  follow(tail: Pick<Tail, 'follow'>, position: number): void {
    tail.follow(position, (events) => {
      for (const { type, data } of events) {
        if (type === 'sessions-revoked') this.#revoked.set(data.user_id, this.#latest(data.user_id, data.before))
      }
    })
  }

  /** The second before which the user's tokens are over; undefined when the user is not known here (yet). */
  over(userId: number): number | undefined {
    const known = this.#known.get(userId)
    return known === undefined ? undefined : this.#latest(userId, known)
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
    return found === null ? null : this.#latest(userId, found)
  }

  /** Something about this user was changed just now: looks the user up again with the next request. */
  forget(userId: number): void {
    this.#known.delete(userId)
    this.#loading.delete(userId)
  }

  #latest(userId: number, known: number): number {
    return Math.max(known, this.#revoked.get(userId) ?? 0)
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
