import { nowSeconds } from '../../harness/http/tokens.ts'
import type { Random } from '../../harness/random.ts'
import { signed } from '../../harness/scenario/service-keys.ts'

/** The senders of requests, as on the ledger. */
export const operator = 'staff:soak'
export const userActor = (user: number): string => `user:${user}`

/** Above the users of the demo catalogue. */
const FIRST_USER = 101
const USERS = 20
/** The first users are charging agents, those after them business managers. */
const AGENTS = 2
const MANAGERS = 2
/** Percentage of requests by a user whom they do not concern. */
const STRANGER_PERCENT = 15
/** Older cards and withdrawals are forgotten. */
const MAX_KNOWN = 200
const HOUR_SECONDS = 3_600

interface Card {
  readonly id: number
  readonly owner: number
}

interface Withdrawal {
  readonly id: number
  readonly by: number
  readonly target: number
}

interface KnownGame {
  readonly id: number
  readonly uid: string
  readonly creator: number
  readonly players: readonly number[]
}

/** What clients know of the service. All of it may have changed since, by requests of other clients. */
export class World {
  readonly random: Random
  readonly users = Array.from({ length: USERS }, (_, i) => FIRST_USER + i)
  readonly agents = this.users.slice(0, AGENTS)
  readonly managers = this.users.slice(AGENTS, AGENTS + MANAGERS)
  /** Rooms for games; each has at most one open game. */
  readonly rooms = [101, 102, 103].map((id) => ({ id, uid: `soak-room-${id}` }))
  /** The latest known state of each room's game. */
  readonly games = new Map<string, KnownGame>()
  readonly cards: Card[] = []
  readonly withdrawals: Withdrawal[] = []
  readonly #tokens = new Map<string, string>()

  constructor(random: Random) {
    this.random = random
  }

  /** Valid for so long that an instance whose clock is off by an hour accepts it, too. */
  tokenOf(actor: string): string {
    const claims = actor === operator ? { sub: 'soak', role: 'operator' } : { sub: actor.replace('user:', '') }
    const times = { iat: nowSeconds() - 2 * HOUR_SECONDS, exp: nowSeconds() + 26 * HOUR_SECONDS }
    const token = this.#tokens.get(actor) ?? signed({ ...claims, ...times })
    this.#tokens.set(actor, token)
    return token
  }

  anyUser(): number {
    return this.random.oneOf(this.users)
  }

  /** One of them, or sometimes anybody. */
  mostly(...users: readonly number[]): number {
    return users.length === 0 || this.random.chance(STRANGER_PERCENT) ? this.anyUser() : this.random.oneOf(users)
  }

  /** So many users after a random one, without these. */
  othersThan(users: number | readonly number[], count: number): readonly number[] {
    const others = this.users.filter((id) => !(typeof users === 'number' ? [users] : users).includes(id))
    const start = this.random.int(0, others.length)
    return [...others.slice(start), ...others.slice(0, start)].slice(0, count)
  }

  anyRoom(): string {
    return this.random.oneOf(this.rooms).uid
  }

  /** Adds what clients learned, and forgets the oldest. */
  learn<T>(known: T[], ...learned: readonly T[]): void {
    known.push(...learned)
    known.splice(0, known.length - MAX_KNOWN)
  }

  /** Undefined when nothing is known. */
  oneKnown<T>(known: readonly T[]): T | undefined {
    return known[this.random.int(0, Math.max(1, known.length))]
  }
}
