import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionClosed, HttpConnection } from '../../../../test/harness/http/http-connection.ts'
import type { HttpResponse } from '../../../../test/harness/http/response.ts'
import { clock } from '../../../../test/harness/load/clock.ts'

/** What became of a request. Times by `clock`. */
export interface Call {
  /** When it should have been sent. */
  readonly due: number
  readonly ms: number
  /** `reset`: the connection was closed before the answer. `refused`: no server listened. */
  readonly outcome: number | 'reset' | 'refused'
}

export interface Pace {
  /** Where the next connection goes. */
  readonly port: () => number
  readonly perSecond: number
  /** The next request. */
  readonly next: () => Buffer
  /** Whether each request has a connection of its own, as that of a phone that was asleep; default: they are kept. */
  readonly isFresh?: boolean
  /** Called for each answer with status 200. */
  readonly onAnswer?: (response: HttpResponse, at: number) => void
}

/**
 * Sends so many requests a second at even intervals, whether earlier ones were answered or not, with one request at a
 * time on a connection.
 */
export class PacedCalls {
  readonly calls: Call[] = []
  readonly #pace: Pace
  readonly #idle: HttpConnection[] = []
  #run: Promise<void> = Promise.resolve()
  #isStopped = true

  constructor(pace: Pace) {
    this.#pace = pace
  }

  start(): void {
    this.#isStopped = false
    this.#run = this.#send()
  }

  /** Resolves when the last request has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#run
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()))
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
    const connection = this.#takeOpen() ?? new HttpConnection(port())
    try {
      const response = await connection.send(next())
      const at = clock()
      this.calls.push({ due, ms: at - due, outcome: response.status })
      if (isFresh) await connection.close()
      else this.#idle.push(connection)
      if (response.status === 200) onAnswer?.(response, at)
    } catch (error) {
      if (!(error instanceof ConnectionClosed)) throw error
      const isRefused = error.message.includes('ECONNREFUSED')
      this.calls.push({ due, ms: clock() - due, outcome: isRefused ? 'refused' : 'reset' })
    }
  }

  #takeOpen(): HttpConnection | undefined {
    for (;;) {
      const connection = this.#idle.pop()
      if (connection === undefined || connection.isOpen) return connection
    }
  }
}
