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

export interface Clients {
  /** Waits until every client has its last answer. */
  stop(): Promise<void>
}

/** Starts clients that send the next command after each answer, or a little later on a shared machine. */
export function startClients(
  context: ScenarioContext,
  environment: Environment,
  count: number,
  retries = true,
): Clients {
  const { answers, instances, world } = environment
  const { random } = world
  let isStopped = false
  const client = async (): Promise<void> => {
    while (!isStopped) {
      const open = retries && random.chance(RETRY_PERCENT) ? answers.takeOpen() : undefined
      const attempt = open ?? answers.begin(randomOperation(world))
      const copies = attempt.operation.method !== 'GET' && random.chance(DUPLICATE_PERCENT) ? 2 : 1
      const results = await Promise.all(
        Array.from({ length: copies }, () => sendAttempt(environment, attempt, random.oneOf(instances))),
      )
      if (results.some(({ outcome }) => outcome !== 'final')) await sleep(PAUSE_MS)
      else if (context.sharesMachine) await sleep(random.int(0, MAX_THINK_MS))
    }
  }
  const running = Array.from({ length: count }, client)
  const stop = async (): Promise<void> => {
    isStopped = true
    await Promise.all(running)
  }
  context.teardown(stop)
  return { stop }
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
