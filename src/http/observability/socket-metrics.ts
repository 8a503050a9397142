import { Counter, Gauge, type Registry } from '@prometheus-io/client'

/** The metrics of this instance's sockets. */
export class SocketMetrics {
  readonly #registry: Registry
  readonly #frames: Counter
  readonly #closes: Counter<'code'>

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
  }

  sent(frames: number): void {
    this.#frames.inc(frames)
  }

  /** Null: the client closed. */
  closed(code: number | null): void {
    this.#closes.inc({ code: code ?? 'client' })
  }

  /** Adds a gauge of open sockets, read at each scrape. */
  watch(count: () => number): void {
    new Gauge({
      name: 'live_sockets',
      help: 'Open sockets',
      registers: [this.#registry],
      collect() {
        this.set(count())
      },
    }).set(0)
  }
}
