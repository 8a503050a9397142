import { setImmediate as turn } from 'node:timers/promises'
import { Client, type Pool } from 'pg'
import type { Troubles } from '../../db/failure-log.ts'
import { endedTheSession } from '../executor/failures.ts'
import type { StoredEvent } from '../storage/event-hash.ts'
import { eventsAfter } from '../storage/read-events.ts'
import { CommitNotifier } from './commit-notifier.ts'
import { EventBuffer } from './event-buffer.ts'

/** Handles events in order; the next ones come when it is done. A throw or a rejection repeats them later. */
export type Subscriber = (events: readonly StoredEvent[]) => void | Promise<void>

/**
 * As `Follower`, for one whose place is stored. Answers whether it did anything: then its place is stored at once, else
 * only now and then, since handling those events again would do nothing either.
 */
export type DurableSubscriber = (events: readonly StoredEvent[]) => boolean | Promise<boolean>

export interface TailOptions {
  readonly url: string
  /** For reading events; values arrive as text. */
  readonly pool: Pool
  readonly failureLog: Pick<Troubles, 'failed' | 'worked'>
  /** Ends when whoever waits for what this instance has sent to the database knows what became of it. */
  readonly waitForInFlight?: () => Promise<void>
  readonly pollMs?: number
}

const MAX_EVENTS = 500
const RETRY_MS = 200
/** A stored place may be so far behind, in time and in events that were nothing to its follower. */
const STORE_INTERVAL_MS = 1_000
const STORE_INTERVAL_EVENTS = 1_000
/** What is hinted at is mostly this instance's own, of which it will have heard by then. */
const NOTIFICATION_DELAY_MS = 5
/** Followers hear of this instance's own events after so long. */
const WAKE_DELAY_MS = 3

/**
 * Committed events in order, to any number of followers. Since position order is commit order and has no
 * gaps, following is asking for `position > mine`: polling is the truth. A NOTIFY of another instance is only a hint to
 * ask now. What this instance has committed itself it need not ask for: `hear()`.
 */
export class Tail {
  readonly #options: TailOptions
  readonly #wakeUps = new Set<() => void>()
  readonly #subscriptions = new Set<Promise<void>>()
  readonly #buffer = new EventBuffer()
  /** Followers of which a session was ended and that did nothing since. */
  readonly #suppressed = new Set<unknown>()
  #reading: Promise<void> | undefined
  readonly #notifier: CommitNotifier
  #stopped = false
  /** Whether the ledger is to be asked for more. */
  #isPollDue = true
  #wakes = 0
  #wakeTimer: NodeJS.Timeout | undefined
  #pollTimer: NodeJS.Timeout | undefined

  constructor(options: TailOptions) {
    this.#options = options
    this.#notifier = new CommitNotifier({
      connection: this.#connection(),
      onPosition: (position) => {
        if (position > this.#buffer.position)
          setTimeout(() => this.#pollIfBehind(position), NOTIFICATION_DELAY_MS).unref()
      },
      onListening: () => this.#poll(),
    })
  }

  /** The last position that was read. */
  get position(): number {
    return this.#buffer.position
  }

  /** Starts to poll and to listen. */
  start(): void {
    this.#pollTimer = setInterval(() => this.#poll(), this.#options.pollMs ?? 250)
    this.#notifier.start()
  }

  /**
   * This instance has committed these. Taken when they follow what was read last; if not, others have written too, and
   * the tail asks.
   */
  publish(events: readonly StoredEvent[]): void {
    const last = events.at(-1)
    if (last === undefined) return
    if (!this.#buffer.append(events)) this.#isPollDue = true
    this.#notifier.notify(last.position)
    // After the answers, which go out first, and not with every batch: whoever sends one command after the other would
    // wait for all followers each time.
    this.#wakeTimer ??= setTimeout(() => {
      this.#wakeTimer = undefined
      this.#wake()
    }, WAKE_DELAY_MS)
  }

  /** There may be events that were not read yet. */
  #poll(): void {
    this.#isPollDue = true
    this.#wake()
  }

  #pollIfBehind(position: number): void {
    if (position > this.#buffer.position) this.#poll()
  }

  #wake(): void {
    this.#wakes += 1
    for (const resolve of this.#wakeUps) resolve()
    this.#wakeUps.clear()
  }

  /** Hands every event after position `after` to the follower, until the tail stops. */
  subscribe(after: number, follower: Subscriber): void {
    this.#track(this.#run(after, follower))
  }

  /**
   * As `follow`, from where the follower of this name last got to on any instance. At any time only one
   * instance has it; another takes over when that one stops or dies. At least once: what was handled just
   * before a crash comes again.
   */
  subscribeDurable(name: string, follower: DurableSubscriber): void {
    this.#track(this.#runDurable(name, follower))
  }

  /** Waits for the followers to finish what they have in hand. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#pollTimer)
    clearTimeout(this.#wakeTimer)
    this.#wake()
    await Promise.allSettled(this.#subscriptions)
    await this.#notifier.stop()
  }

  /** Once, until it works again. */
  #suppressFirstError(who: unknown): boolean {
    const first = !this.#suppressed.has(who)
    this.#suppressed.add(who)
    return first
  }

  #succeeded(who: unknown): void {
    this.#suppressed.delete(who)
    this.#options.failureLog.worked(who)
  }

  #track(running: Promise<void>): void {
    this.#subscriptions.add(running)
    void running.finally(() => this.#subscriptions.delete(running))
  }

  async #run(after: number, follower: Subscriber): Promise<void> {
    let position = after
    while (!this.#stopped) {
      try {
        const events = await this.#next(position, follower)
        if (events.length > 0) await follower(events)
        position = events.at(-1)?.position ?? position
        this.#succeeded(follower)
      } catch (error) {
        this.#options.failureLog.failed(error, follower)
        await this.#pause()
      }
    }
  }

  async #runDurable(name: string, follower: DurableSubscriber): Promise<void> {
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
          if (lock.rows[0]?.mine === true) await this.#runAsOwner(client, name, follower, () => broken)
          else {
            this.#succeeded(follower)
            await this.#pause()
          }
        }
      } catch (error) {
        // A connection that ended is replaced; it is trouble when that fails. A statement that was under way hears of it
        // before the connection does: but it may be another's, and end each time.
        if (!broken && !(endedTheSession(error) && this.#suppressFirstError(follower))) {
          this.#options.failureLog.failed(error, follower)
        }
      } finally {
        this.#buffer.unsubscribe(follower)
        await client.end().catch(() => {})
      }
      await this.#pause()
    }
  }

  async #runAsOwner(client: Client, name: string, follower: DurableSubscriber, broken: () => boolean): Promise<void> {
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
      if (did || position - kept.position > STORE_INTERVAL_EVENTS || performance.now() - kept.at > STORE_INTERVAL_MS)
        await keep()
      this.#succeeded(follower)
    }
    if (position > kept.position && !broken()) await keep()
  }

  /** Waits for the next events after a position. None only when the tail stops or `broken` says so. */
  async #next(position: number, who: unknown, broken = () => false): Promise<readonly StoredEvent[]> {
    this.#buffer.acknowledge(who, position)
    while (!this.#stopped && !broken()) {
      const wakes = this.#wakes
      const events = await this.#after(position)
      if (events.length > 0) return events
      this.#succeeded(who)
      await this.#untilWake(wakes)
    }
    return []
  }

  /** The next events after a position; from what was read last when it holds them, so that followers share it. */
  async #after(position: number): Promise<readonly StoredEvent[]> {
    const shared = this.#buffer.after(position)
    if (shared !== undefined) return shared
    if (position < this.#buffer.position) return await this.#read(position)
    if (position > this.#buffer.position) {
      // Whoever is furthest leads; the others read their own way up to it. What is being read just now is not shared.
      this.#buffer.seek(position)
      this.#poll()
    }
    if (!this.#isPollDue && this.#reading === undefined) return []
    this.#reading ??= this.#advance().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
    return this.#buffer.after(position) ?? (position < this.#buffer.position ? await this.#read(position) : [])
  }

  async #advance(): Promise<void> {
    this.#isPollDue = false
    try {
      const events = await this.#read(this.#buffer.position)
      // Some may be of this instance, read before it was told that they were committed: their answers go out first.
      if (events.length > 0) await this.#options.waitForInFlight?.().then(() => turn())
      this.#buffer.append(events)
      if (events.length === MAX_EVENTS) this.#isPollDue = true
    } catch (error) {
      this.#isPollDue = true
      throw error
    }
  }

  #read(after: number): Promise<readonly StoredEvent[]> {
    return eventsAfter(this.#options.pool, after, MAX_EVENTS)
  }

  /** Until the next wake; at once when there was one since `wakes` was read. */
  #untilWake(wakes: number): Promise<void> {
    if (this.#stopped || this.#wakes !== wakes) return Promise.resolve()
    return new Promise((resolve) => this.#wakeUps.add(resolve))
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
