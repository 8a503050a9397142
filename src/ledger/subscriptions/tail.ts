import { setImmediate as turn } from 'node:timers/promises'
import { Client, type Pool } from 'pg'
import type { Troubles } from '../../db/failure-log.ts'
import { endedTheSession } from '../executor/failures.ts'
import type { RecordedEvent } from '../storage/event-hash.ts'
import { eventsAfter } from '../storage/read-events.ts'
import { Hints } from './commit-notifier.ts'
import { Recent } from './event-buffer.ts'

/** Handles events in order; the next ones come when it is done. A throw or a rejection repeats them later. */
export type Follower = (events: readonly RecordedEvent[]) => void | Promise<void>

/**
 * As `Follower`, for one whose place is stored. Answers whether it did anything: then its place is stored at once, else
 * only now and then, since handling those events again would do nothing either.
 */
export type StoredFollower = (events: readonly RecordedEvent[]) => boolean | Promise<boolean>

export interface TailOptions {
  readonly url: string
  /** For reading events; values arrive as text. */
  readonly pool: Pool
  readonly troubles: Pick<Troubles, 'failed' | 'worked'>
  /** Ends when whoever waits for what this instance has sent to the database knows what became of it. */
  readonly landed?: () => Promise<void>
  readonly pollMs?: number
}

const CHUNK = 500
const RETRY_MS = 200
/** A stored place may be so far behind, in time and in events that were nothing to its follower. */
const STORE_MS = 1_000
const STORE_EVENTS = 1_000
/** What is hinted at is mostly this instance's own, of which it will have heard by then. */
const HINT_MS = 5
/** Followers hear of this instance's own events after so long. */
const SOON_MS = 3

/**
 * Committed events in order, to any number of followers. Since position order is commit order and has no
 * gaps, following is asking for `position > mine`: polling is the truth. A NOTIFY of another instance is only a hint to
 * ask now. What this instance has committed itself it need not ask for: `hear()`.
 */
export class Tail {
  readonly #options: TailOptions
  readonly #waiting = new Set<() => void>()
  readonly #following = new Set<Promise<void>>()
  readonly #recent = new Recent()
  /** Followers of which a session was ended and that did nothing since. */
  readonly #excused = new Set<unknown>()
  #reading: Promise<void> | undefined
  readonly #hints: Hints
  #stopped = false
  /** Whether the ledger is to be asked for more. */
  #due = true
  #wakes = 0
  #soon: NodeJS.Timeout | undefined
  #poll: NodeJS.Timeout | undefined

  constructor(options: TailOptions) {
    this.#options = options
    this.#hints = new Hints({
      connection: this.#connection(),
      heard: (position) => {
        if (position > this.#recent.position) setTimeout(() => this.#hint(position), HINT_MS).unref()
      },
      listening: () => this.#look(),
    })
  }

  /** The last position that was read. */
  get position(): number {
    return this.#recent.position
  }

  /** Starts to poll and to listen. */
  start(): void {
    this.#poll = setInterval(() => this.#look(), this.#options.pollMs ?? 250)
    this.#hints.start()
  }

  /**
   * This instance has committed these. Taken when they follow what was read last; if not, others have written too, and
   * the tail asks.
   */
  hear(events: readonly RecordedEvent[]): void {
    const last = events.at(-1)
    if (last === undefined) return
    if (!this.#recent.goOn(events)) this.#due = true
    this.#hints.give(last.position)
    // After the answers, which go out first, and not with every batch: whoever sends one command after the other would
    // wait for all followers each time.
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      this.#wake()
    }, SOON_MS)
  }

  /** There may be events that were not read yet. */
  #look(): void {
    this.#due = true
    this.#wake()
  }

  #hint(position: number): void {
    if (position > this.#recent.position) this.#look()
  }

  #wake(): void {
    this.#wakes += 1
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }

  /** Hands every event after position `after` to the follower, until the tail stops. */
  follow(after: number, follower: Follower): void {
    this.#track(this.#run(after, follower))
  }

  /**
   * As `follow`, from where the follower of this name last got to on any instance. At any time only one
   * instance has it; another takes over when that one stops or dies. At least once: what was handled just
   * before a crash comes again.
   */
  followStored(name: string, follower: StoredFollower): void {
    this.#track(this.#runStored(name, follower))
  }

  /** Waits for the followers to finish what they have in hand. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#poll)
    clearTimeout(this.#soon)
    this.#wake()
    await Promise.allSettled(this.#following)
    await this.#hints.stop()
  }

  /** Once, until it works again. */
  #excuse(who: unknown): boolean {
    const first = !this.#excused.has(who)
    this.#excused.add(who)
    return first
  }

  #worked(who: unknown): void {
    this.#excused.delete(who)
    this.#options.troubles.worked(who)
  }

  #track(running: Promise<void>): void {
    this.#following.add(running)
    void running.finally(() => this.#following.delete(running))
  }

  async #run(after: number, follower: Follower): Promise<void> {
    let position = after
    while (!this.#stopped) {
      try {
        const events = await this.#next(position, follower)
        if (events.length > 0) await follower(events)
        position = events.at(-1)?.position ?? position
        this.#worked(follower)
      } catch (error) {
        this.#options.troubles.failed(error, follower)
        await this.#pause()
      }
    }
  }

  async #runStored(name: string, follower: StoredFollower): Promise<void> {
    while (!this.#stopped) {
      // Its own connection: the lock lives and dies with it.
      const client = new Client({ ...this.#connection(), application_name: `follower ${name}` })
      let broken = false
      client.on('error', () => {
        broken = true
      })
      try {
        await client.connect()
        // An instance that vanished without a word gives the lock back soon.
        await client.query('set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3')
        while (!this.#stopped && !broken) {
          const lock = await client.query<{ mine: boolean }>(
            'select pg_try_advisory_lock(hashtextextended($1, 0)) as mine',
            [`ledger follower ${name}`],
          )
          if (lock.rows[0]?.mine === true) await this.#runAlone(client, name, follower, () => broken)
          else {
            this.#worked(follower)
            await this.#pause()
          }
        }
      } catch (error) {
        // A connection that ended is replaced; it is trouble when that fails. A statement that was under way hears of it
        // before the connection does: but it may be another's, and end each time.
        if (!broken && !(endedTheSession(error) && this.#excuse(follower))) {
          this.#options.troubles.failed(error, follower)
        }
      } finally {
        this.#recent.left(follower)
        await client.end().catch(() => {})
      }
      await this.#pause()
    }
  }

  async #runAlone(client: Client, name: string, follower: StoredFollower, broken: () => boolean): Promise<void> {
    await client.query('insert into ledger_cursors (name, position) values ($1, 0) on conflict do nothing', [name])
    const place = 'select position from ledger_cursors where name = $1'
    const stored = await client.query<{ position: string }>(place, [name])
    let position = Number(stored.rows[0]?.position ?? 0)
    let kept = { position, at: performance.now() }
    const keep = async (): Promise<void> => {
      await client.query('update ledger_cursors set position = $2 where name = $1', [name, position])
      kept = { position, at: performance.now() }
    }
    while (!this.#stopped && !broken()) {
      const events = await this.#next(position, follower, broken)
      const last = events.at(-1)
      if (last === undefined) continue
      const did = await follower(events)
      position = last.position
      if (did || position - kept.position > STORE_EVENTS || performance.now() - kept.at > STORE_MS) await keep()
      this.#worked(follower)
    }
    if (position > kept.position && !broken()) await keep()
  }

  /** Waits for the next events after a position. None only when the tail stops or `broken` says so. */
  async #next(position: number, who: unknown, broken = () => false): Promise<readonly RecordedEvent[]> {
    this.#recent.done(who, position)
    while (!this.#stopped && !broken()) {
      const wakes = this.#wakes
      const events = await this.#after(position)
      if (events.length > 0) return events
      this.#worked(who)
      await this.#woken(wakes)
    }
    return []
  }

  /** The next events after a position; from what was read last when it holds them, so that followers share it. */
  async #after(position: number): Promise<readonly RecordedEvent[]> {
    const shared = this.#recent.after(position)
    if (shared !== undefined) return shared
    if (position < this.#recent.position) return await this.#read(position)
    if (position > this.#recent.position) {
      // Whoever is furthest leads; the others read their own way up to it. What is being read just now is not shared.
      this.#recent.leapTo(position)
      this.#look()
    }
    if (!this.#due && this.#reading === undefined) return []
    this.#reading ??= this.#advance().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
    return this.#recent.after(position) ?? (position < this.#recent.position ? await this.#read(position) : [])
  }

  async #advance(): Promise<void> {
    this.#due = false
    try {
      const events = await this.#read(this.#recent.position)
      // Some may be of this instance, read before it was told that they were committed: their answers go out first.
      if (events.length > 0) await this.#options.landed?.().then(() => turn())
      this.#recent.goOn(events)
      if (events.length === CHUNK) this.#due = true
    } catch (error) {
      this.#due = true
      throw error
    }
  }

  #read(after: number): Promise<readonly RecordedEvent[]> {
    return eventsAfter(this.#options.pool, after, CHUNK)
  }

  /** Until the next wake; at once when there was one since `wakes` was read. */
  #woken(wakes: number): Promise<void> {
    if (this.#stopped || this.#wakes !== wakes) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  #connection() {
    // A server that is not heard of any more is given up: pg does that in this mode only.
    const limits = { connectionTimeoutMillis: 3_000, query_timeout: 11_000, pipeline: true }
    return { connectionString: this.#options.url, keepAlive: true, ...limits }
  }

  #pause(): Promise<void> {
    return this.#stopped ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
