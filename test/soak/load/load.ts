import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import type { Environment } from '../environment/environment.ts'
import { chance, oneOf } from './random.ts'
import { sendAttempt } from './send-attempt.ts'

/** Percentages of commands that are sent twice at once, and of turns in which an unresolved command is sent again. */
const DUPLICATE_PERCENT = 3
const RETRY_PERCENT = 25
/** The pause after a failed request; clients without one would take the service's time for recovery. */
const PAUSE_MS = 250
/** The longest pause after each answer on a shared machine, to leave some of it to others. */
const MAX_THINK_MS = 100

/** Clients that send the next command after each answer, or a little later on a shared machine, until `stop`. */
export class Load {
  readonly #environment: Environment
  readonly #retryPercent: number
  readonly #thinkMs: number
  readonly #running: readonly Promise<void>[]
  #stopped = false

  /** `retryPercent`: percentage of turns in which a client sends an unresolved command again. */
  constructor(context: ScenarioContext, environment: Environment, clients: number, retryPercent = RETRY_PERCENT) {
    this.#environment = environment
    this.#retryPercent = retryPercent
    this.#thinkMs = context.sharesMachine ? MAX_THINK_MS : 0
    this.#running = Array.from({ length: clients }, () => this.#client())
    context.teardown(() => this.stop())
  }

  /** Waits until every client has its last answer. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  async #client(): Promise<void> {
    const { answers, instances, nextOperation } = this.#environment
    while (!this.#stopped) {
      const open = chance(this.#retryPercent) ? answers.takeOpen() : undefined
      const attempt = open ?? answers.begin(nextOperation())
      const copies = attempt.operation.method !== 'GET' && chance(DUPLICATE_PERCENT) ? 2 : 1
      const result = await Promise.all(
        Array.from({ length: copies }, () => sendAttempt(this.#environment, attempt, oneOf(instances))),
      )
      if (result.some(({ outcome }) => outcome !== 'final')) await sleep(PAUSE_MS)
      else if (this.#thinkMs > 0) await sleep(randomInt(this.#thinkMs))
    }
  }
}
