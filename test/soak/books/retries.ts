import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import type { Environment } from '../environment/environment.ts'
import { sendAttempt } from '../load/clients.ts'
import type { Operation } from '../load/operations.ts'
import type { Attempt } from './answers.ts'
import type { Result } from './contract.ts'

const CONCURRENCY = 16
/** How long a command may stay without a final answer after the end of a disturbance. */
const RETRY_TIMEOUT_MS = 20_000
const RETRY_INTERVAL_MS = 100

/** Sends all commands without a final answer again, with their own keys, until each has one. */
export async function retryUnresolved(context: ScenarioContext, environment: Environment): Promise<void> {
  const open: Attempt[] = []
  for (let one = environment.answers.takeOpen(); one !== undefined; one = environment.answers.takeOpen()) open.push(one)
  await retryUntilFinal(context, environment, open)
  await replayRecent(context, environment)
}

/** Sends each command until it has a final answer. */
export async function retryUntilFinal(
  context: ScenarioContext,
  environment: Environment,
  commands: readonly Attempt[],
): Promise<void> {
  const { answers } = environment
  await forEachConcurrently(commands, async (attempt) => {
    await sendWhile(context, environment, attempt, () => !answers.final.has(attempt.key))
    context.expect(answers.final.has(attempt.key), `${attempt.key} has no final answer`)
  })
}

/** Sends each operation, again while the service is too busy for it. */
export async function sendEach(
  context: ScenarioContext,
  environment: Environment,
  operations: readonly Operation[],
): Promise<void> {
  await forEachConcurrently(operations, async (operation) => {
    const attempt = environment.answers.begin(operation)
    const { outcome } = await sendWhile(context, environment, attempt, (result) => result.outcome === 'retry')
    context.expect(outcome === 'final', `${operation.method} ${operation.path} was answered ${outcome}`)
  })
}

/** Sends the latest commands again: their replies must be the same, byte by byte. */
async function replayRecent(context: ScenarioContext, environment: Environment): Promise<void> {
  await forEachConcurrently(environment.answers.takeRecent(), async ({ key, operation, status, text }) => {
    // Reading the private part may fail at first, on a connection that the disturbance broke.
    const attempt = { key, operation }
    const result = await sendWhile(context, environment, attempt, ({ outcome }) => outcome === 'retry')
    const replay = result.outcome === 'final' ? result.text : result.outcome
    context.expect(
      result.outcome === 'final' && result.replayed && result.text === text,
      `${key} was answered ${status} ${text}, and its replay ${replay}`,
    )
  })
}

/** Sends a command again and again, to any instance, for as long as its last result is one to retry; answers that. */
async function sendWhile(
  context: ScenarioContext,
  environment: Environment,
  attempt: Attempt,
  isToRetry: (result: Result) => boolean,
): Promise<Result> {
  const deadline = performance.now() + context.limit(RETRY_TIMEOUT_MS)
  for (;;) {
    const result = await sendAttempt(environment, attempt, context.random.oneOf(environment.instances))
    if (!isToRetry(result) || performance.now() > deadline) return result
    await context.pause(RETRY_INTERVAL_MS)
  }
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items]
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}
