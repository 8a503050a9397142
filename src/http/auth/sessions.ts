import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { Tail } from '../../ledger/subscriptions/tail.ts'

const MOST_KNOWN = 100_000
/** Users who are looked up at a time before they come. */
const PAGE = 5_000

/** A user, and the second before which their tokens are over. */
export type Session = Pick<Tables['users'], 'user_id' | 'sessions_revoked_before'>

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
export class HolderSessions<Holder extends number | string> {
  readonly #find: (holder: Holder) => Promise<number | null>
  readonly #revocationIn: (event: PositionedEvent) => Revocation<Holder> | null
  /** As looked up. The oldest entry makes room for a new one. */
  readonly #known = new Map<Holder, number>()
  readonly #loading = new Map<Holder, Promise<number | null>>()
  /** Who was forgotten since a page of users is being looked up; undefined while none is. */
  #forgotten: Set<Holder> | undefined
  readonly #revoked: ((holder: Holder, before: number) => void)[] = []

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
        this.forget(revocation.holder)
        for (const revoked of this.#revoked) revoked(revocation.holder, revocation.before)
      }
    })
  }

  /** For what was let in before: tells of each revocation once the holder is looked up again. */
  onRevoked(revoked: (holder: Holder, before: number) => void): void {
    this.#revoked.push(revoked)
  }

  /** The second before which the holder's tokens are over; undefined when the holder is not known here (yet). */
  over(holder: Holder): number | undefined {
    return this.#known.get(holder)
  }

  /** As `over`, from the database; null for a holder who does not exist. Rejects when the database is away. */
  async load(holder: Holder): Promise<number | null> {
    let loading = this.#loading.get(holder)
    if (loading === undefined) this.#loading.set(holder, (loading = this.#find(holder)))
    let found: number | null = null
    try {
      found = await loading
      // Whoever was forgotten meanwhile may have been found as they were before.
      if (found !== null && this.#loading.get(holder) === loading) this.#keep(holder, found)
    } finally {
      if (this.#loading.get(holder) === loading) this.#loading.delete(holder)
    }
    return found
  }

  /**
   * Looks up users before they come, the newest ones first: when an instance starts, all of them come at once, and each
   * would ask by itself. `below` answers so many users with lower ids, the highest first.
   */
  async warm(
    this: HolderSessions<number>,
    below: (userId: number, most: number) => Promise<readonly Session[]>,
  ): Promise<void> {
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

  /** Something about this holder was changed just now: looks the holder up again with the next request. */
  forget(holder: Holder): void {
    this.#known.delete(holder)
    this.#loading.delete(holder)
    this.#forgotten?.add(holder)
  }

  #keep(holder: Holder, before: number): void {
    const oldest = this.#known.size >= MOST_KNOWN ? this.#known.keys().next().value : undefined
    if (oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(holder, before)
  }
}

const ofUser = ({ type, data }: PositionedEvent): Revocation<number> | null =>
  type === 'sessions-revoked' ? { holder: data.user_id, before: data.before } : null

const ofStaff = ({ type, data }: PositionedEvent): Revocation<string> | null =>
  type === 'staff-sessions-revoked' ? { holder: data.sub, before: data.before } : null

/** Of users, of whom only those exist who were announced. */
export class Sessions extends HolderSessions<number> {
  constructor(find: (userId: number) => Promise<number | null>) {
    super(find, ofUser)
  }
}

/** Of staff, by `sub`. Nobody announces them: whose tokens were never revoked is as good as any other. */
export class StaffSessions extends HolderSessions<string> {
  constructor(find: (sub: string) => Promise<number>) {
    super(find, ofStaff)
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
  (userId: number, most: number): Promise<readonly Session[]> =>
    db
      .selectFrom('users')
      .select(['user_id', 'sessions_revoked_before'])
      .where('user_id', '<', userId)
      .orderBy('user_id', 'desc')
      .limit(most)
      .execute()
