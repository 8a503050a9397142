import { DatabaseError } from 'pg'
import type { Log } from '../log.ts'
import type { Cluster } from './cluster.ts'

/** How long a PostgreSQL that is alive may answer nobody. */
const MAX_SILENCE_MS = 60_000

/**
 * Ends a PostgreSQL that is alive and has answered nobody for a minute, so that it can be started again. One that
 * recovers says so, and is waited for.
 */
export class Silence {
  readonly #cluster: Pick<Cluster, 'running' | 'kill' | 'log'>
  readonly #log: Log
  readonly #now: () => number
  #since: number | undefined

  constructor(cluster: Pick<Cluster, 'running' | 'kill' | 'log'>, log: Log, now = () => performance.now()) {
    this.#cluster = cluster
    this.#log = log
    this.#now = now
  }

  answered(): void {
    this.#since = undefined
  }

  /** After an attempt to connect has failed. */
  failed(err: unknown): void {
    const running = this.#cluster.running()
    if (running === null || isAnswer(err)) {
      this.#since = undefined
      return
    }
    this.#since ??= this.#now()
    if (this.#now() - this.#since < MAX_SILENCE_MS) return
    this.#since = undefined
    const { pid } = running
    const { log } = this.#cluster
    this.#log.warn(
      { pid, log, err },
      'embedded PostgreSQL has answered nobody for a minute; ending it to start it again',
    )
    this.#cluster.kill()
  }
}

/** Whether PostgreSQL itself says what is wrong. That it is shutting down says nothing: a hanging shutdown is silent. */
const isAnswer = (error: unknown): boolean =>
  error instanceof DatabaseError && !(error.code === '57P03' && error.message.includes('shutting down'))
