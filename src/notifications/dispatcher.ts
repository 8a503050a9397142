import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Troubles } from '../db/failure-log.ts'
import { backOffMs } from './back-off.ts'
import type { Claimed, Outbox } from './outbox.ts'
import type { Outcome, Send } from './sender.ts'

/** Sends that are under way at a time on this instance. */
const LANES = 16
/** How often the outbox is looked into when nobody says that there is something. */
const POLL_MS = 1_000
/** The longest that one notification waits before it is tried again, if nobody asks for more. */
const MOST_MS = 3_600_000
/** The longest that all of them wait while nothing gets through, and when FCM asks for it. */
const MOST_REST_MS = 60_000
const MOST_ASKED_REST_MS = 600_000

export interface DispatcherOptions {
  readonly outbox: Pick<Outbox, 'claim' | 'remove' | 'putOff' | 'dropDevice'>
  readonly send: Send
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** From 0 to 1. */
  readonly chance?: () => number
}

/**
 * Sends what is in the outbox, a few at a time. Each row is claimed, sent, and then removed or put off: whatever dies
 * in between, the row comes back. What fails for one device holds up no other; when so much in a row fails that it
 * must be FCM or the way there, all rests for a while, and then one at a time is tried until one gets through.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #sending = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #news = Promise.withResolvers<void>()
  #running: Promise<void> = Promise.resolve()
  /** Failures in a row that do not lie with a device. */
  #failures = 0
  #restUntil = 0
  readonly #reading: Troubles

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#reading = new Troubles(
      options.log,
      'notifications that wait cannot be read; trying again',
      'notifications that wait are read again',
    )
  }

  start(): void {
    this.#running = this.#run()
  }

  /** There may be something to do. */
  wake(): void {
    this.#news.resolve()
  }

  /** Claims no more and waits for the sends that are under way. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.wake()
    await this.#running
    await Promise.all(this.#sending)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const rest = this.#restUntil - performance.now()
      if (rest > 0) {
        await this.#pause(rest)
        continue
      }
      // Before the look: what comes meanwhile is not missed.
      const news = (this.#news = Promise.withResolvers<void>())
      await this.#claim()
      const woken = new AbortController()
      await Promise.race([news.promise, sleep(POLL_MS, undefined, { signal: woken.signal }).catch(() => {})])
      woken.abort()
    }
  }

  async #claim(): Promise<void> {
    const lanes = this.#failures >= LANES ? 1 : LANES
    const free = lanes - this.#sending.size
    if (free <= 0) return
    try {
      for (const row of await this.#options.outbox.claim(free)) this.#track(this.#deliver(row))
      this.#reading.worked(this)
    } catch (error) {
      this.#reading.failed(error, this)
    }
  }

  #track(sending: Promise<void>): void {
    this.#sending.add(sending)
    void sending.finally(() => {
      this.#sending.delete(sending)
      this.wake()
    })
  }

  /** Never rejects: a row that could not be dealt with comes back when its lease ends. */
  async #deliver(row: Claimed): Promise<void> {
    const { outbox, send, log } = this.#options
    const about = { user_id: row.user_id, position: row.position }
    try {
      if (row.registered_at === null) return await outbox.remove(row)
      if (row.stale) {
        log.warn(about, 'a push notification could not be sent for weeks and is dropped')
        return await outbox.remove(row)
      }
      const { notification } = row
      if (notification === null) {
        log.warn(about, 'stored push notification is unreadable; dropped')
        return await outbox.remove(row)
      }
      const outcome = await send({ ...row, notification })
      if (outcome.kind === 'later') return await this.#putOff(row, outcome)
      this.#answered()
      if (outcome.kind === 'delivered') return await outbox.remove(row)
      log.info(about, 'a device whose push token leads nowhere is dropped')
      await outbox.dropDevice(row)
    } catch (err) {
      log.warn({ ...about, err }, 'a push notification was not done with; it comes again')
    }
  }

  async #putOff(row: Claimed, { why, deviceOnly, afterMs }: Extract<Outcome, { kind: 'later' }>): Promise<void> {
    // What was given up because we stop says nothing about FCM.
    if (this.#stop.signal.aborted) return
    const { outbox, log, chance = Math.random } = this.#options
    if (deviceOnly) this.#answered()
    else this.#failed(afterMs, chance)
    // Of very many failures in a row a few are told.
    if (deviceOnly ? row.attempts === 1 : Number.isInteger(Math.log2(this.#failures))) {
      log.warn(
        { user_id: row.user_id, position: row.position, why, attempts: row.attempts, in_a_row: this.#failures },
        'a push notification did not get through; it is kept and tried again',
      )
    }
    await outbox.putOff(row, backOffMs(row.attempts, afterMs, MOST_MS, chance()))
  }

  #failed(askedMs: number, chance: () => number): void {
    this.#failures += 1
    const beyond = this.#failures - LANES
    if (beyond < 0) return
    const asked = Math.min(askedMs, MOST_ASKED_REST_MS)
    this.#restUntil = performance.now() + backOffMs(beyond + 1, asked, MOST_REST_MS, chance())
  }

  /** FCM looked at a message, whatever it thought of it: the way there is open. */
  #answered(): void {
    if (this.#failures >= LANES) this.#options.log.info({}, 'push notifications get through again')
    this.#failures = 0
    this.#restUntil = 0
  }

  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => {})
  }
}
