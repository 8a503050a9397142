import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { FailureLog } from '../db/log.ts'
import type { LeasedDelivery, Outbox, Outcome, Send } from './outbox.ts'

/** On this instance. */
const MAX_CONCURRENT_SENDS = 16
/** How often the outbox is polled when nothing wakes the dispatcher. */
const POLL_INTERVAL_MS = 1_000
/** The longest delay before one notification is retried, unless FCM requests more. */
const MAX_BACKOFF_MS = 3_600_000
/** The longest pause of all sends while none succeeds, and when FCM requests one. */
const MAX_PAUSE_MS = 60_000
const MAX_REQUESTED_PAUSE_MS = 600_000

interface DispatcherOptions {
  readonly outbox: Pick<Outbox, 'lease' | 'remove' | 'reschedule' | 'dropDevice'>
  readonly send: Send
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** Between 0 and 1. */
  readonly random?: () => number
}

/**
 * Sends the notifications of the outbox, several at a time. Each row is leased, sent, and then removed or rescheduled;
 * after a crash in between, the row is leased again. A failing device delays no other. When as many sends in a row have
 * failed as run at a time, FCM itself is taken to be down: sending pauses, then tries one at a time until one succeeds.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #inFlight = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #wakeup = Promise.withResolvers<void>()
  #running: Promise<void> = Promise.resolve()
  /** Failures in a row that are not those of a single device. */
  #failures = 0
  #pausedUntil = 0
  readonly #readFailures: FailureLog

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#readFailures = new FailureLog(options.log, 'push outbox unreadable; retrying', 'push outbox readable again')
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Called when the outbox may have new rows. */
  wake(): void {
    this.#wakeup.resolve()
  }

  /** Leases no more rows and waits for the sends in flight. */
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
      // Created before the outbox is read, so that a wakeup in between is not lost.
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

  /** Never rejects: a row that fails otherwise is leased again when its lease expires. */
  async #deliver(row: LeasedDelivery): Promise<void> {
    const { outbox, send, log } = this.#options
    const details = { user_id: row.user_id, position: row.position }
    try {
      if (row.registered_at === null) return await outbox.remove(row)
      if (row.is_stale) {
        log.warn(details, 'push notification not sent for 28 days; dropped')
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
      log.info(details, 'device with an unregistered push token dropped')
      await outbox.dropDevice(row)
    } catch (err) {
      log.warn({ ...details, err }, 'push notification not processed; retrying after its lease')
    }
  }

  async #reschedule(
    row: LeasedDelivery,
    { why, isDeviceOnly, afterMs }: Extract<Outcome, { kind: 'later' }>,
  ): Promise<void> {
    // Sends aborted by our own shutdown say nothing about FCM.
    if (this.#stop.signal.aborted) return
    const { outbox, log, random = Math.random } = this.#options
    if (isDeviceOnly) this.#onResponse()
    else this.#onFailure(afterMs, random)
    // Failures in a row are logged at the 1st, 2nd, 4th, 8th ….
    if (isDeviceOnly ? row.attempts === 1 : Number.isInteger(Math.log2(this.#failures))) {
      log.warn(
        { user_id: row.user_id, position: row.position, why, attempts: row.attempts, in_a_row: this.#failures },
        'push notification not sent; retrying later',
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

  /** FCM has judged a message, whatever the result: it is reachable. */
  #onResponse(): void {
    if (this.#failures >= MAX_CONCURRENT_SENDS) this.#options.log.info({}, 'push notifications are sent again')
    this.#failures = 0
    this.#pausedUntil = 0
  }

  #pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => {})
  }
}

const INITIAL_BACKOFF_MS = 1_000
const MAX_DOUBLINGS = 20
/** A server that requests more is asked again after a day. */
const MAX_REQUESTED_MS = 86_400_000

/** Between half of a delay and all of it, so that what failed together is not retried together. */
const jittered = (ms: number, random: number): number => ms / 2 + (ms / 2) * random

/**
 * The delay after this many failures in a row (1 or more): doubled each time up to `maxMs`, and never less than the
 * server requested. `random` is between 0 and 1.
 */
export function backoffMs(failures: number, requestedMs: number, maxMs: number, random: number): number {
  const own = jittered(Math.min(maxMs, INITIAL_BACKOFF_MS * 2 ** Math.min(failures - 1, MAX_DOUBLINGS)), random)
  const requested = Math.min(requestedMs, MAX_REQUESTED_MS)
  return Math.ceil(own > requested ? own : requested + jittered(requested / 5, random))
}
