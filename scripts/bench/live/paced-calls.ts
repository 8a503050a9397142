import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionClosed, HttpConnection } from '../../../test/harness/http/http-connection.ts'
import { clock } from '../../../test/harness/load/clock.ts'
import { percentile } from '../../../test/harness/load/percentiles.ts'

/** A request. Times by `clock`. */
interface Call {
  /** When it should have been sent. */
  readonly due: number
  readonly ms: number
  /** Whether it was answered with 200. */
  readonly isDone: boolean
}

interface Pace {
  readonly port: number
  readonly perSecond: number
  readonly next: () => Buffer
  /** Whether each request has a connection of its own, as that of a phone that was asleep; default: they are kept. */
  readonly isFresh?: boolean
  /** Called for each answer with status 200. */
  readonly onAnswer?: (text: string, at: number) => void
}

/**
 * Sends so many requests a second at even intervals, whether earlier ones were answered or not, with one request at a
 * time on a connection. Unlike the load generator it survives a service that is gone.
 */
export class PacedCalls {
  readonly #calls: Call[] = []
  readonly #pace: Pace
  readonly #idle: HttpConnection[] = []
  readonly #run: Promise<void>
  #isStopped = false

  constructor(pace: Pace) {
    this.#pace = pace
    this.#run = this.#send()
  }

  /** Resolves when the last request has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#run
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()))
  }

  /** Milliseconds of the requests that waited between two times, and how many got no answer, or another than 200. */
  latencies(from: number, until = Number.POSITIVE_INFINITY): { p99: number; max: number; lost: number } {
    const calls = this.#calls.filter(({ due, ms }) => due + ms >= from && due <= until)
    const done = calls.filter(({ isDone }) => isDone).map(({ ms }) => ms)
    const sorted = done.sort((a, b) => a - b)
    return { p99: percentile(sorted, 99), max: percentile(sorted, 100), lost: calls.length - sorted.length }
  }

  async #send(): Promise<void> {
    const began = clock()
    const calls: Promise<void>[] = []
    for (let i = 0; ; i += 1) {
      const due = began + (i * 1_000) / this.#pace.perSecond
      await sleep(Math.max(0, due - clock()))
      if (this.#isStopped) break
      calls.push(this.#call(due))
    }
    await Promise.all(calls)
  }

  async #call(due: number): Promise<void> {
    const { port, next, isFresh = false, onAnswer } = this.#pace
    // One that the service has closed opens again.
    const connection = this.#idle.pop() ?? new HttpConnection(port)
    try {
      const { status, text } = await connection.send(next())
      const at = clock()
      this.#calls.push({ due, ms: at - due, isDone: status === 200 })
      if (isFresh) await connection.close()
      else this.#idle.push(connection)
      if (status === 200) onAnswer?.(text, at)
    } catch (error) {
      if (!(error instanceof ConnectionClosed)) throw error
      this.#calls.push({ due, ms: clock() - due, isDone: false })
    }
  }
}
