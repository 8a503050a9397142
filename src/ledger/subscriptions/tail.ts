import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import type { Client, Pool } from 'pg'
import { SingleFlight } from '../../db/async.ts'
import { type FailureLog, type Log, silent } from '../../db/log.ts'
import type { StoredEvent } from '../storage/event-hash.ts'
import { eventsAfter } from '../storage/stored-event.ts'
import { EventBuffer } from './event-buffer.ts'
import { CommitNotifier, runOnOneInstance } from './followers.ts'

/** Handles events in order; the next ones come when it is done. When it throws or rejects, they are retried later. */
export type Subscriber = (events: readonly StoredEvent[]) => void | Promise<void>

/**
 * A subscriber whose position is stored. Returns whether it did anything: then its position is stored at once, else
 * only now and then, as handling those events again would do nothing either.
 */
export type DurableSubscriber = (events: readonly StoredEvent[]) => boolean | Promise<boolean>

export interface TailOptions {
  readonly url: string
  /** For reading events; values arrive as text. */
  readonly pool: Pool
  readonly failureLog: Pick<FailureLog, 'failed' | 'succeeded'>
  readonly log?: Log
  /** Resolves once the callers of all that this instance has in flight have their replies. */
  readonly waitForInFlight?: () => Promise<void>
  readonly pollMs?: number
}

const DEFAULT_POLL_MS = 250
/** Events in one read. */
const MAX_EVENTS = 500
const RETRY_MS = 200
/** How far a stored position may lag, in time and in events that its subscriber did nothing for. */
const STORE_INTERVAL_MS = 1_000
const STORE_INTERVAL_EVENTS = 1_000
/** Most notifications are about this instance's own commits, which `publish` reports within this time. */
const NOTIFICATION_DELAY_MS = 5
/** Subscribers get this instance's own events after this delay, so that replies go out first. */
const WAKE_DELAY_MS = 3

/**
 * Committed events in order, for any number of subscribers. Position order is commit order and has no gaps, so that
 * reading `position > mine` is all it takes and polling alone would do. Notifications of other instances only say that
 * it is worth polling now, and this instance's own commits arrive by `publish`.
 */
export class Tail {
  readonly #options: TailOptions
  readonly #wakeUps = new Set<() => void>()
  readonly #subscriptions = new Set<Promise<void>>()
  readonly #buffer = new EventBuffer()
  readonly #reads = new SingleFlight(() => this.#advance())
  readonly #notifier: CommitNotifier
  /** The highest position of which another instance said that it is committed. */
  #announced = 0
  #isStopped = false
  /** Whether there may be events that were not read yet. */
  #isPollDue = true
  #wakes = 0
  #wakeTimer: NodeJS.Timeout | undefined
  #pollTimer: NodeJS.Timeout | undefined

  constructor(options: TailOptions) {
    this.#options = options
    this.#notifier = new CommitNotifier({
      url: options.url,
      onPosition: (position) => {
        this.#announced = Math.max(this.#announced, position)
        if (position > this.#buffer.position) {
          setTimeout(() => this.pollUpTo(position), NOTIFICATION_DELAY_MS).unref()
        }
      },
      onListening: () => this.#poll(),
    })
  }

  /** The last position that was read. */
  get position(): number {
    return this.#buffer.position
  }

  /** The end of the ledger, as far as instances have told. */
  get head(): number {
    return Math.max(this.#announced, this.#buffer.position)
  }

  /** Starts to poll and to listen. */
  start(): void {
    this.#pollTimer = setInterval(() => this.#poll(), this.#options.pollMs ?? DEFAULT_POLL_MS)
    this.#notifier.start()
  }

  /**
   * This instance has committed these events. They are buffered when they follow the last ones read; if not, other
   * instances have written too, and the tail reads.
   */
  publish(events: readonly StoredEvent[]): void {
    const last = events.at(-1)
    if (last === undefined) return
    if (!this.#buffer.append(events)) this.#isPollDue = true
    this.#notifier.notify(last.position)
    // After the replies, and not with every batch: a caller who sends one command after the other would wait for all
    // subscribers each time.
    this.#wakeTimer ??= setTimeout(() => {
      this.#wakeTimer = undefined
      this.#wake()
    }, WAKE_DELAY_MS)
  }

  #poll(): void {
    this.#isPollDue = true
    this.#wake()
  }

  /** Reads now, unless it has read up to this position. */
  pollUpTo(position: number): void {
    if (position > this.#buffer.position) this.#poll()
  }

  #wake(): void {
    this.#wakes += 1
    for (const resolve of this.#wakeUps) resolve()
    this.#wakeUps.clear()
  }

  /** Passes every event after position `after` to the subscriber, until the tail stops. */
  subscribe(after: number, subscriber: Subscriber): void {
    this.#track(this.#run(after, subscriber))
  }

  /**
   * As `subscribe`, from the stored position of the subscriber of this name. At any time only one instance runs it;
   * another takes over when that one stops or dies. What was handled just before a crash is handled again.
   */
  subscribeDurable(name: string, subscriber: DurableSubscriber): void {
    this.#track(this.#runDurable(name, subscriber))
  }

  /** Waits for the subscribers to finish the events that they are handling. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearInterval(this.#pollTimer)
    clearTimeout(this.#wakeTimer)
    this.#wake()
    await Promise.allSettled(this.#subscriptions)
    await this.#notifier.stop()
  }

  #track(running: Promise<void>): void {
    this.#subscriptions.add(running)
    void running.finally(() => this.#subscriptions.delete(running))
  }

  async #run(after: number, subscriber: Subscriber): Promise<void> {
    const { failureLog } = this.#options
    const succeeded = (): void => failureLog.succeeded(subscriber)
    let position = after
    while (!this.#isStopped) {
      try {
        const events = await this.#next(position, subscriber, succeeded)
        if (events.length > 0) await subscriber(events)
        position = events.at(-1)?.position ?? position
        succeeded()
      } catch (error) {
        failureLog.failed(error, subscriber)
        await this.#pause()
      }
    }
  }

  #runDurable(name: string, subscriber: DurableSubscriber): Promise<void> {
    const { url, failureLog } = this.#options
    const options = {
      url,
      isStopped: () => this.#isStopped,
      pause: () => this.#pause(),
      failureLog,
      source: subscriber,
    }
    return runOnOneInstance(name, options, async (client, isBroken, succeeded) => {
      try {
        await this.#runAsOwner(client, name, subscriber, succeeded, isBroken)
      } finally {
        this.#buffer.unsubscribe(subscriber)
      }
    })
  }

  async #runAsOwner(
    client: Client,
    name: string,
    subscriber: DurableSubscriber,
    succeeded: () => void,
    isBroken: () => boolean,
  ): Promise<void> {
    await client.query('insert into ledger_cursors (name, position) values ($1, 0) on conflict do nothing', [name])
    const select = 'select c.position, h.position as head from ledger_cursors c, ledger_head h where c.name = $1'
    const cursor = await client.query<{ position: string; head: string }>(select, [name])
    const head = Number(cursor.rows[0]?.head ?? 0)
    let position = Number(cursor.rows[0]?.position ?? 0)
    let stored = { position, at: performance.now() }
    const store = async (): Promise<void> => {
      await client.query('update ledger_cursors set position = $2 where name = $1', [name, position])
      stored = { position, at: performance.now() }
    }
    if (position > head) {
      const { log = silent } = this.#options
      log.warn(
        { subscriber: name, position, head },
        'cursor of a subscriber beyond the end of the ledger; it continues at the end, and events may have been left out',
      )
      position = head
      // At once: until the next event is handled, another start would continue at a later end.
      await store()
    }
    while (!this.#isStopped && !isBroken()) {
      const events = await this.#next(position, subscriber, succeeded, isBroken)
      const last = events.at(-1)
      if (last === undefined) continue
      const didWork = await subscriber(events)
      position = last.position
      const isOld =
        position - stored.position > STORE_INTERVAL_EVENTS || performance.now() - stored.at > STORE_INTERVAL_MS
      if (didWork || isOld) await store()
      succeeded()
    }
    if (position > stored.position && !isBroken()) await store()
  }

  /** Waits for the next events after a position. Empty only when the tail stops or `isBroken` says so. */
  async #next(
    position: number,
    subscriber: unknown,
    succeeded: () => void,
    isBroken = () => false,
  ): Promise<readonly StoredEvent[]> {
    this.#buffer.acknowledge(subscriber, position)
    while (!this.#isStopped && !isBroken()) {
      const wakes = this.#wakes
      const events = await this.#after(position)
      if (events.length > 0) return events
      succeeded()
      await this.#untilWake(wakes)
    }
    return []
  }

  /** The next events after a position; from the buffer when it has them, so that subscribers share one read. */
  async #after(position: number): Promise<readonly StoredEvent[]> {
    const buffered = this.#buffer.after(position)
    if (buffered !== undefined) return buffered
    if (position < this.#buffer.position) return await this.#read(position)
    if (position > this.#buffer.position) {
      // The buffer follows the subscriber that is furthest; others read from the database until they have caught up.
      this.#buffer.seek(position)
      this.#poll()
    }
    if (!this.#isPollDue && this.#reads.running === undefined) return []
    await this.#reads.run()
    return this.#buffer.after(position) ?? (position < this.#buffer.position ? await this.#read(position) : [])
  }

  async #advance(): Promise<void> {
    this.#isPollDue = false
    try {
      const events = await this.#read(this.#buffer.position)
      // Some may be this instance's own, read before it learned that they are committed: their replies go out first.
      if (events.length > 0) await this.#options.waitForInFlight?.().then(() => eventLoopTurn())
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

  /** Waits for the next wake; not at all when there was one since `wakes` was read. */
  #untilWake(wakes: number): Promise<void> {
    if (this.#isStopped || this.#wakes !== wakes) return Promise.resolve()
    return new Promise((resolve) => this.#wakeUps.add(resolve))
  }

  #pause(): Promise<void> {
    return this.#isStopped ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
