import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import type { Environment } from '../environment/environment.ts'
import { chance, oneOf } from './random.ts'
import { sendAttempt } from './send-attempt.ts'

/** In a hundred: commands that are asked for twice at once, and turns in which something open is asked for again. */
const DUPLICATE_PERCENT = 3
const RETRY_PERCENT = 25
/** A pause after what was not answered, as clients do: those who hammer on would starve what they wait for. */
const PAUSE_MS = 250
/** Who shares the machine does not take all of it: a client thinks for up to so long after each answer. */
const THINK_MS = 100

/** Clients that ask as fast as they are answered, or a little slower on a shared machine, until told to stop. */
export class Load {
  readonly #environment: Environment
  readonly #retryPercent: number
  readonly #thinkMs: number
  readonly #running: readonly Promise<void>[]
  #stopped = false

  /** `again`: how often a client takes up something open instead, in a hundred turns. */
  constructor(context: ScenarioContext, environment: Environment, clients: number, retryPercent = RETRY_PERCENT) {
    this.#environment = environment
    this.#retryPercent = retryPercent
    this.#thinkMs = context.sharesMachine ? THINK_MS : 0
    this.#running = Array.from({ length: clients }, () => this.#client())
    context.teardown(() => this.stop())
  }

  /** Waits until every client has heard what it was waiting for. */
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
