import { setTimeout as sleep } from 'node:timers/promises'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import type { Instance } from '../../harness/scenario/service-instance.ts'
import type { Attempt } from '../books/answers.ts'
import { judge, type Result } from '../books/contract.ts'
import type { Environment } from '../environment/environment.ts'
import { randomOperation } from './operations.ts'

/** Percentages of commands that are sent twice at once, and of turns in which an unresolved command is sent again. */
const DUPLICATE_PERCENT = 3
const RETRY_PERCENT = 25
/** The pause after a failed request; clients without one would take the service's time for recovery. */
const PAUSE_MS = 250
/** The longest pause after each answer on a shared machine, to leave some of it to others. */
const MAX_THINK_MS = 100

/** Clients that send the next command after each answer, or a little later on a shared machine, until `stop`. */
export class Clients {
  readonly #environment: Environment
  readonly #retryPercent: number
  readonly #thinkMs: number
  readonly #running: readonly Promise<void>[]
  #isStopped = false

  /** `retries`: whether clients send unresolved commands again. */
  constructor(context: ScenarioContext, environment: Environment, count: number, { retries = true } = {}) {
    this.#environment = environment
    this.#retryPercent = retries ? RETRY_PERCENT : 0
    this.#thinkMs = context.sharesMachine ? MAX_THINK_MS : 0
    this.#running = Array.from({ length: count }, () => this.#client())
    context.teardown(() => this.stop())
  }

  /** Waits until every client has its last answer. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#running)
  }

  async #client(): Promise<void> {
    const { answers, instances, world } = this.#environment
    const { random } = world
    while (!this.#isStopped) {
      const open = random.chance(this.#retryPercent) ? answers.takeOpen() : undefined
      const attempt = open ?? answers.begin(randomOperation(world))
      const copies = attempt.operation.method !== 'GET' && random.chance(DUPLICATE_PERCENT) ? 2 : 1
      const results = await Promise.all(
        Array.from({ length: copies }, () => sendAttempt(this.#environment, attempt, random.oneOf(instances))),
      )
      if (results.some(({ outcome }) => outcome !== 'final')) await sleep(PAUSE_MS)
      else if (this.#thinkMs > 0) await sleep(random.int(0, this.#thinkMs))
    }
  }
}

/** Sends a command once and notes the result. Never rejects. */
export async function sendAttempt(
  { answers, world, timeoutMs }: Environment,
  attempt: Attempt,
  { origin }: Instance,
): Promise<Result> {
  const started = performance.now()
  const result = await send(origin, attempt, world.tokenOf(attempt.operation.actor), timeoutMs)
  answers.note(attempt, result, performance.now() - started)
  return result
}

async function send(origin: string, { key, operation }: Attempt, token: string, timeoutMs: number): Promise<Result> {
  try {
    const response = await fetch(`${origin}${operation.path}`, {
      method: operation.method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(operation.method !== 'GET' && { 'idempotency-key': key }),
      },
      body: operation.body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await response.text()
    return judge(operation.kind, { status: response.status, header: (name) => response.headers.get(name), text })
  } catch (error) {
    return { outcome: 'cut', timedOut: error instanceof Error && error.name === 'TimeoutError' }
  }
}
