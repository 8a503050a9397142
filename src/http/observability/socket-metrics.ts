import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client'

/** What is in hand for the sockets of this instance. */
export interface SocketUsage {
  readonly sockets: () => { readonly authenticated: number; readonly unauthenticated: number; readonly closing: number }
  /** Bytes that wait for clients in this process. */
  readonly unsentBytes: () => number
  readonly resumes: () => { readonly running: number; readonly waiting: number }
}

/** The metrics of this instance's sockets. */
export class SocketMetrics {
  readonly #registry: Registry
  readonly #frames: Counter
  readonly #closes: Counter<'code'>
  readonly #flushTime: Histogram
  #usage: SocketUsage | undefined

  constructor(registry: Registry) {
    this.#registry = registry
    this.#frames = new Counter({
      name: 'live_frames_total',
      help: 'Frames of channels that were sent, one for each socket',
      registers: [registry],
    })
    this.#closes = new Counter({
      name: 'live_closes_total',
      help: 'Sockets that were closed, by our close code, or client',
      labelNames: ['code'],
      registers: [registry],
    })
    this.#flushTime = new Histogram({
      name: 'live_flush_duration_seconds',
      help: "Time from a channel's turn until the last of its sockets has been sent the frames",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers: [registry],
    })
  }

  /** Open sockets. */
  get open(): number {
    if (this.#usage === undefined) return 0
    const { authenticated, unauthenticated } = this.#usage.sockets()
    return authenticated + unauthenticated
  }

  sent(frames: number): void {
    this.#frames.inc(frames)
  }

  flushed(seconds: number): void {
    this.#flushTime.observe(seconds)
  }

  /** Null: the client closed. */
  closed(code: number | null): void {
    this.#closes.inc({ code: code ?? 'client' })
  }

  /** Adds gauges that are read at each scrape. */
  watch(usage: SocketUsage): void {
    this.#usage = usage
    const { sockets, unsentBytes, resumes } = usage
    new Gauge({
      name: 'live_sockets',
      help: 'Open sockets',
      registers: [this.#registry],
      collect() {
        const { authenticated, unauthenticated } = sockets()
        this.set(authenticated + unauthenticated)
      },
    }).set(0)
    this.#gauges('live_sockets_by_state', 'Sockets by state', 'state', sockets)
    new Gauge({
      name: 'live_unsent_bytes',
      help: 'Bytes that wait for clients in this process',
      registers: [this.#registry],
      collect() {
        this.set(unsentBytes())
      },
    }).set(0)
    this.#gauges('live_resumes', 'Resumes in hand, by state', 'state', resumes)
  }

  #gauges(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void {
    new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect() {
        for (const [value, count] of Object.entries(read())) this.set({ [label]: value }, count)
      },
    }).reset()
  }
}
