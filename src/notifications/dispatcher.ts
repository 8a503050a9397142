import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { FailureLog } from '../db/failure-log.ts'
import { backoffMs } from './backoff.ts'
import type { LeasedDelivery, Outbox } from './outbox.ts'
import type { Outcome, Send } from './sender.ts'

/** Sends that are under way at a time on this instance. */
const MAX_CONCURRENT_SENDS = 16
/** How often the outbox is looked into when nobody says that there is something. */
const POLL_INTERVAL_MS = 1_000
/** The longest that one notification waits before it is tried again, if nobody asks for more. */
const MAX_BACKOFF_MS = 3_600_000
/** The longest that all of them wait while nothing gets through, and when FCM asks for it. */
const MAX_PAUSE_MS = 60_000
const MAX_REQUESTED_PAUSE_MS = 600_000

export interface DispatcherOptions {
  readonly outbox: Pick<Outbox, 'lease' | 'remove' | 'reschedule' | 'dropDevice'>
  readonly send: Send
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** From 0 to 1. */
  readonly random?: () => number
}

/**
 * Sends what is in the outbox, a few at a time. Each row is claimed, sent, and then removed or put off: whatever dies
 * in between, the row comes back. What fails for one device holds up no other; when so much in a row fails that it
 * must be FCM or the way there, all rests for a while, and then one at a time is tried until one gets through.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #inFlight = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #wakeup = Promise.withResolvers<void>()
  #running: Promise<void> = Promise.resolve()
  /** Failures in a row that do not lie with a device. */
  #failures = 0
  #pausedUntil = 0
  readonly #readFailures: FailureLog

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#readFailures = new FailureLog(
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
    this.#wakeup.resolve()
  }

  /** Claims no more and waits for the sends that are under way. */
  async stop(): Promise<void> {
    this.#stop.abort()
    this.wake()
    await this.#running
    await Promise.all(this.#inFlight)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const pauseMs = this.#pausedUntil - performance.now()
      if (pauseMs > 0) {
        await this.#pause(pauseMs)
        continue
      }
      // Before the look: what comes meanwhile is not missed.
      const wakeup = (this.#wakeup = Promise.withResolvers<void>())
      await this.#leaseAndSend()
      const woken = new AbortController()
      await Promise.race([wakeup.promise, sleep(POLL_INTERVAL_MS, undefined, { signal: woken.signal }).catch(() => {})])
      woken.abort()
    }
  }

  async #leaseAndSend(): Promise<void> {
    const concurrency = this.#failures >= MAX_CONCURRENT_SENDS ? 1 : MAX_CONCURRENT_SENDS
    const free = concurrency - this.#inFlight.size
    if (free <= 0) return
    try {
      for (const row of await this.#options.outbox.lease(free)) this.#track(this.#deliver(row))
      this.#readFailures.succeeded(this)
    } catch (error) {
      this.#readFailures.failed(error, this)
    }
  }

  #track(sending: Promise<void>): void {
    this.#inFlight.add(sending)
    void sending.finally(() => {
      this.#inFlight.delete(sending)
      this.wake()
    })
  }

  /** Never rejects: a row that could not be dealt with comes back when its lease ends. */
  async #deliver(row: LeasedDelivery): Promise<void> {
    const { outbox, send, log } = this.#options
    const details = { user_id: row.user_id, position: row.position }
    try {
      if (row.registered_at === null) return await outbox.remove(row)
      if (row.stale) {
        log.warn(details, 'a push notification could not be sent for weeks and is dropped')
        return await outbox.remove(row)
      }
      const { notification } = row
      if (notification === null) {
        log.warn(details, 'stored push notification is unreadable; dropped')
        return await outbox.remove(row)
      }
      const outcome = await send({ ...row, notification })
      if (outcome.kind === 'later') return await this.#reschedule(row, outcome)
      this.#onResponse()
      if (outcome.kind === 'delivered') return await outbox.remove(row)
      log.info(details, 'a device whose push token leads nowhere is dropped')
      await outbox.dropDevice(row)
    } catch (err) {
      log.warn({ ...details, err }, 'a push notification was not done with; it comes again')
    }
  }

  async #reschedule(
    row: LeasedDelivery,
    { why, deviceOnly, afterMs }: Extract<Outcome, { kind: 'later' }>,
  ): Promise<void> {
    // What was given up because we stop says nothing about FCM.
    if (this.#stop.signal.aborted) return
    const { outbox, log, random = Math.random } = this.#options
    if (deviceOnly) this.#onResponse()
    else this.#onFailure(afterMs, random)
    // Of very many failures in a row a few are told.
    if (deviceOnly ? row.attempts === 1 : Number.isInteger(Math.log2(this.#failures))) {
      log.warn(
        { user_id: row.user_id, position: row.position, why, attempts: row.attempts, in_a_row: this.#failures },
        'a push notification did not get through; it is kept and tried again',
      )
    }
    await outbox.reschedule(row, backoffMs(row.attempts, afterMs, MAX_BACKOFF_MS, random()))
  }

  #onFailure(requestedMs: number, random: () => number): void {
    this.#failures += 1
    const beyond = this.#failures - MAX_CONCURRENT_SENDS
    if (beyond < 0) return
    const requested = Math.min(requestedMs, MAX_REQUESTED_PAUSE_MS)
    this.#pausedUntil = performance.now() + backoffMs(beyond + 1, requested, MAX_PAUSE_MS, random())
  }

  /** FCM looked at a message, whatever it thought of it: the way there is open. */
  #onResponse(): void {
    if (this.#failures >= MAX_CONCURRENT_SENDS) this.#options.log.info({}, 'push notifications get through again')
    this.#failures = 0
    this.#pausedUntil = 0
  }

  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => {})
  }
}
