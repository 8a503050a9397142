import { Worker } from 'node:worker_threads'
import { clock } from '../../harness/load/clock.ts'
import { Connection } from '../../harness/load/load-connection.ts'
import { percentile, Samples } from '../../harness/load/percentiles.ts'

/** Milliseconds from when a request was due to its answer. */
export interface Latencies {
  readonly p50: number
  readonly p99: number
  readonly longest: number
}

/**
 * What well-behaved users feel: so many requests a second at even distances, each on the next connection, whether those
 * before are answered or not. Every answer must be a 200.
 */
export class Victims {
  readonly #requests: readonly Buffer[]
  readonly #idle: Connection[]
  readonly #failure = Promise.withResolvers<never>()
  #answered: (connection: Connection) => void = () => {}

  private constructor(requests: readonly Buffer[]) {
    this.#requests = requests
    this.#idle = []
    this.#failure.promise.catch(() => {})
  }

  static async open(port: number, connections: number, requests: readonly Buffer[]): Promise<Victims> {
    const victims = new Victims(requests)
    const listener = {
      answered: (connection: Connection) => victims.#answered(connection),
      failed: (error: Error) => victims.#failure.reject(error),
    }
    const opening = Array.from({ length: connections }, () => Connection.open(port, listener))
    victims.#idle.push(...(await Promise.race([Promise.all(opening), victims.#failure.promise])))
    return victims
  }

  async run(perSecond: number, seconds: number): Promise<Latencies> {
    const count = Math.round(perSecond * seconds)
    const latencies = new Samples()
    const done = Promise.withResolvers<void>()
    const due: number[] = []
    let sent = 0
    const send = (): void => {
      while (this.#idle.length > 0 && due.length > 0) {
        const request = this.#requests[sent % this.#requests.length]
        const at = due.shift()
        if (request === undefined || at === undefined) return
        sent += 1
        this.#idle.shift()?.send(request, at)
      }
    }
    this.#answered = (connection) => {
      latencies.add(clock() - connection.startedAt)
      this.#idle.push(connection)
      if (latencies.count === count) done.resolve()
      else send()
    }
    const pacer = new Worker(new URL('../../harness/load/pacer.ts', import.meta.url), {
      workerData: { perSecond, count },
    })
    pacer.on('error', done.reject)
    pacer.on('message', (at: number) => {
      due.push(at)
      send()
    })
    try {
      await Promise.race([done.promise, this.#failure.promise])
    } finally {
      await pacer.terminate()
    }
    const sorted = latencies.sorted()
    return { p50: percentile(sorted, 50), p99: percentile(sorted, 99), longest: percentile(sorted, 100) }
  }

  close(): void {
    for (const connection of this.#idle) connection.close()
  }
}
