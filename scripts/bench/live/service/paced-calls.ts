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

/**
 * Sends so many requests a second at even intervals, whether earlier ones were answered or not, on kept-alive connections
 * with one request at a time.
 */
export class PacedCalls {
  readonly calls: Call[] = []
  readonly #ports: number[]
  readonly #perSecond: number
  readonly #next: () => Buffer
  readonly #onAnswer: (response: HttpResponse, at: number) => void
  readonly #idle: HttpConnection[] = []
  #run: Promise<void> = Promise.resolve()
  #isStopped = true

  /** `ports`: of servers; the next one is taken when one does not listen. */
  constructor(
    ports: readonly number[],
    perSecond: number,
    next: () => Buffer,
    onAnswer: (response: HttpResponse, at: number) => void = () => {},
  ) {
    this.#ports = [...ports]
    this.#perSecond = perSecond
    this.#next = next
    this.#onAnswer = onAnswer
  }

  start(): void {
    this.#isStopped = false
    this.#run = this.#pace()
  }

  /** Resolves when the last request has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#run
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()))
  }

  async #pace(): Promise<void> {
    const began = clock()
    const calls: Promise<void>[] = []
    for (let i = 0; ; i += 1) {
      const due = began + (i * 1_000) / this.#perSecond
      await sleep(Math.max(0, due - clock()))
      if (this.#isStopped) break
      calls.push(this.#call(due, this.#next(), this.#ports.length))
    }
    await Promise.all(calls)
  }

  async #call(due: number, request: Buffer, attempts: number): Promise<void> {
    const [port = 0] = this.#ports
    const connection = this.#idle.pop() ?? new HttpConnection(port)
    try {
      const response = await connection.send(request)
      const at = clock()
      this.calls.push({ due, ms: at - due, outcome: response.status })
      this.#idle.push(connection)
      if (response.status === 200) this.#onAnswer(response, at)
    } catch (error) {
      if (!(error instanceof ConnectionClosed)) throw error
      const isRefused = error.message.includes('ECONNREFUSED')
      if (isRefused && attempts > 1) {
        if (this.#ports[0] === port) this.#ports.push(...this.#ports.splice(0, 1))
        return this.#call(due, request, attempts - 1)
      }
      this.calls.push({ due, ms: clock() - due, outcome: isRefused ? 'refused' : 'reset' })
    }
  }
}
