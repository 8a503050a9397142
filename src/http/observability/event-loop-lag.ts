import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { type Registry, Summary } from '@prometheus-io/client'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'

/** Interval at which the event loop's lag is measured. */
const TICK_INTERVAL_MS = 20
/** The quantiles cover the last one to two windows, so that a stall shows in several scrapes. */
const WINDOW_MS = 60_000
const QUANTILES = [0.5, 0.99, 1] as const

const NAME = 'event_loop_lag_seconds'

/** The minimum lag that is logged, and the minimum time between two lines. */
const LOGGED_LAG_MS = 1_000
const LOG_INTERVAL_MS = 10_000

/** In microseconds, up to an hour. */
const newHistogram = (): RecordableHistogram => createHistogram({ lowest: 1, highest: 3_600_000_000, figures: 2 })

/**
 * Measures how late the event loop is. A stall counts for as long as it lasted, as waiting requests saw it: one sample
 * for each tick that was missed, each with the rest of the stall.
 */
export class EventLoopLag {
  #recent = newHistogram()
  #earlier = newHistogram()
  #windowEnds = Number.NEGATIVE_INFINITY
  /** Seconds of lag, and ticks, since the start. */
  #sum = 0
  #count = 0

  constructor(registry: Registry) {
    const valuesNow = () => [
      ...QUANTILES.map((quantile) => ({ labels: { quantile }, value: this.seconds(quantile) })),
      { metricName: `${NAME}_sum`, labels: {}, value: this.#sum },
      { metricName: `${NAME}_count`, labels: {}, value: this.#count },
    ]
    const help = 'How late the event loop was; quantiles are of the last one to two minutes, 1 is the longest stall'
    const summary = new Summary<'quantile'>({ name: NAME, help, registers: [registry] })
    // The summary's own quantiles are approximate, and those of a stall must not be.
    const described = { name: NAME, help, type: 'summary', aggregator: 'sum', collect: () => {} } as const
    summary.get = async () => ({ ...described, values: valuesNow() })
  }

  /** Records the lag of a tick; both in milliseconds. */
  record(lag: number, now: number): void {
    if (now >= this.#windowEnds) {
      this.#earlier = now >= this.#windowEnds + WINDOW_MS ? newHistogram() : this.#recent
      this.#recent = newHistogram()
      this.#windowEnds = now + WINDOW_MS
    }
    for (let left = lag; ; left -= TICK_INTERVAL_MS) {
      this.#recent.record(Math.max(1, Math.round(left * 1_000)))
      this.#sum += left / 1_000
      this.#count += 1
      if (left < TICK_INTERVAL_MS) return
    }
  }

  seconds(quantile: number): number {
    const both = newHistogram()
    both.add(this.#recent)
    both.add(this.#earlier)
    if (both.count === 0) return 0
    return (quantile === 1 ? both.max : both.percentile(quantile * 100)) / 1_000_000
  }

  /**
   * Measures from when the app is ready until it closes, and logs which route a stall of seconds belongs to. What blocked the
   * event loop while the app was built delayed no request.
   */
  watch(app: FastifyInstance, log: Pick<FastifyBaseLogger, 'warn'>): void {
    const stalls = new StallLog(log)
    app.addHook('onRequest', (request, _reply, done) => {
      stalls.begin(request, performance.now())
      done()
    })
    app.addHook('preValidation', (request, _reply, done) => {
      stalls.begin(request, performance.now())
      done()
    })
    app.addHook('onResponse', (request, _reply, done) => {
      stalls.end(request, performance.now())
      done()
    })
    let timer: NodeJS.Timeout | undefined
    app.addHook('onReady', async () => {
      let last = performance.now()
      timer = setInterval(() => {
        const now = performance.now()
        const lag = Math.max(0, now - last - TICK_INTERVAL_MS)
        last = now
        this.record(lag, now)
        stalls.tick(lag, now)
      }, TICK_INTERVAL_MS)
      timer.unref()
    })
    app.addHook('onClose', async () => clearInterval(timer))
  }
}

interface ActiveRequest extends Pick<FastifyRequest, 'method'> {
  readonly routeOptions: Pick<FastifyRequest['routeOptions'], 'url'>
}

/** Finds the request that caused a stall: the one that ran in the longest gap between two ticks. */
export class StallLog {
  readonly #log: Pick<FastifyBaseLogger, 'warn'>
  /** The request that last started to run, and since when. */
  #current: ActiveRequest | null = null
  #since = 0
  #longest = 0
  #suspect: ActiveRequest | null = null
  #loggedAt = Number.NEGATIVE_INFINITY
  #suppressed = 0

  constructor(log: Pick<FastifyBaseLogger, 'warn'>) {
    this.#log = log
  }

  begin(request: ActiveRequest, now: number): void {
    this.#recordGap(this.#current, now)
    this.#current = request
  }

  /** When no other request started before the gap, this one ran in it. */
  end(request: ActiveRequest, now: number): void {
    this.#recordGap(this.#current ?? request, now)
    this.#current = null
  }

  tick(lag: number, now: number): void {
    this.#recordGap(this.#current, now)
    const suspect = this.#suspect
    this.#current = null
    this.#suspect = null
    this.#longest = 0
    if (lag < LOGGED_LAG_MS) return
    if (now < this.#loggedAt + LOG_INTERVAL_MS) {
      this.#suppressed += 1
      return
    }
    const route = suspect === null ? null : `${suspect.method} ${suspect.routeOptions.url ?? 'none'}`
    this.#log.warn({ route, lag_ms: Math.round(lag), stalls_without_line: this.#suppressed }, 'event loop blocked')
    this.#loggedAt = now
    this.#suppressed = 0
  }

  #recordGap(active: ActiveRequest | null, now: number): void {
    const gap = now - this.#since
    this.#since = now
    if (gap <= this.#longest) return
    this.#longest = gap
    this.#suspect = active
  }
}
