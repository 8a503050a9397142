import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import type { Environment } from '../environment/environment.ts'
import type { Operation } from '../load/operation.ts'
import { oneOf } from '../load/random.ts'
import { sendAttempt } from '../load/send-attempt.ts'
import type { Attempt } from './answers.ts'

const CONCURRENCY = 16
/** How long a command may stay without a final answer after the end of a fault. */
const RETRY_TIMEOUT_MS = 20_000

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
  const deadline = performance.now() + context.limit(RETRY_TIMEOUT_MS)
  await forEachConcurrently(commands, async (attempt) => {
    while (!answers.final.has(attempt.key)) {
      await sendAttempt(environment, attempt, oneOf(environment.instances))
      if (answers.final.has(attempt.key)) return
      if (performance.now() > deadline) {
        context.expect(false, `${attempt.key} has no final answer`)
        return
      }
      await context.pause(100)
    }
  })
}

/** Sends each operation, again while the service is too busy for it. */
export async function sendEach(
  context: ScenarioContext,
  environment: Environment,
  operations: readonly Operation[],
): Promise<void> {
  const deadline = performance.now() + context.limit(RETRY_TIMEOUT_MS)
  await forEachConcurrently(operations, async (operation) => {
    const attempt = environment.answers.begin(operation)
    let { outcome } = await sendAttempt(environment, attempt, oneOf(environment.instances))
    while (outcome === 'retry' && performance.now() < deadline) {
      await context.pause(100)
      ;({ outcome } = await sendAttempt(environment, attempt, oneOf(environment.instances)))
    }
    context.expect(outcome === 'final', `${operation.method} ${operation.path} was answered ${outcome}`)
  })
}

/** Sends the latest commands again: their replies must be the same, byte by byte. */
async function replayRecent(context: ScenarioContext, environment: Environment): Promise<void> {
  const deadline = performance.now() + context.limit(RETRY_TIMEOUT_MS)
  await forEachConcurrently(environment.answers.takeRecent(), async ({ key, operation, status, text }) => {
    let result = await sendAttempt(environment, { key, operation }, oneOf(environment.instances))
    // Reading the private part may fail at first, on a connection that the fault broke.
    while (result.outcome === 'retry' && performance.now() < deadline) {
      await context.pause(100)
      result = await sendAttempt(environment, { key, operation }, oneOf(environment.instances))
    }
    if (result.outcome !== 'final')
      context.expect(false, `${key} was answered ${status}, and its replay ${result.outcome}`)
    else
      context.expect(
        result.replayed && result.text === text,
        `${key} was answered ${text}, and its replay ${result.text}`,
      )
  })
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items]
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}
