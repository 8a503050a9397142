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

/** Sends all commands without a final answer again, with their own keys, and replays the latest ones. */
export async function retryUnresolved(context: ScenarioContext, environment: Environment): Promise<void> {
  const open: Attempt[] = []
  for (let one = environment.answers.takeOpen(); one !== undefined; one = environment.answers.takeOpen()) open.push(one)
  await sendAll(context, environment, open)
  await replayRecent(context, environment)
}

/** Sends each operation until it has a final answer. */
export async function sendEach(
  context: ScenarioContext,
  environment: Environment,
  operations: readonly Operation[],
): Promise<void> {
  const attempts = operations.map((operation) => environment.answers.begin(operation))
  await sendAll(context, environment, attempts)
}

async function sendAll(
  context: ScenarioContext,
  environment: Environment,
  attempts: readonly Attempt[],
): Promise<void> {
  await forEachConcurrently(attempts, async (attempt) => {
    const { outcome } = await sendUntilFinal(context, environment, attempt)
    context.expect(outcome === 'final', `${attempt.key} has no final answer, but ${outcome}`)
  })
}

/** Sends the latest commands again: their replies must be the same, byte by byte. */
async function replayRecent(context: ScenarioContext, environment: Environment): Promise<void> {
  const { answers } = environment
  const cutsBefore = answers.cuts
  await forEachConcurrently(answers.takeRecent(), async ({ key, operation, status, text }) => {
    // Reading the private part may fail at first, on a connection that the disturbance broke.
    const result = await sendUntilFinal(context, environment, { key, operation })
    const replay = result.outcome === 'final' ? result.text : result.outcome
    context.expect(
      result.outcome === 'final' && result.replayed && result.text === text,
      `${key} was answered ${status} ${text}, and its replay ${replay}`,
    )
  })
  context.expect(answers.cuts === cutsBefore, 'a replay got no answer')
}

/** Sends a command, to any instance, again and again for as long as it must be retried; answers the last result. */
async function sendUntilFinal(context: ScenarioContext, environment: Environment, attempt: Attempt): Promise<Result> {
  const deadline = performance.now() + context.limit(RETRY_TIMEOUT_MS)
  for (;;) {
    const result = await sendAttempt(environment, attempt, context.random.oneOf(environment.instances))
    const isToRetry = result.outcome === 'retry' || result.outcome === 'cut'
    if (!isToRetry || performance.now() > deadline) return result
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
