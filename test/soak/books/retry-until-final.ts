import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import type { Environment } from '../environment/environment.ts'
import type { Operation } from '../load/operation.ts'
import { oneOf } from '../load/random.ts'
import { sendAttempt } from '../load/send-attempt.ts'
import type { Attempt } from './answers.ts'

/** How many ask at a time. */
const CONCURRENCY = 16
/** How long a command may stay without an answer once the trouble is over. */
const RETRY_TIMEOUT_MS = 20_000

/** Asks again, each with its own key, for everything of which nothing is known, until all is known. */
export async function retryUnresolved(context: ScenarioContext, environment: Environment): Promise<void> {
  const open: Attempt[] = []
  for (let one = environment.answers.takeOpen(); one !== undefined; one = environment.answers.takeOpen()) open.push(one)
  await retryUntilFinal(context, environment, open)
  await replayRecent(context, environment)
}

/** Asks for each command until it has an answer that is kept. */
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
        context.expect(false, `${attempt.key} stays without an answer`)
        return
      }
      await context.pause(100)
    }
  })
}

/** Asks once for what has no key. */
export async function sendEach(
  context: ScenarioContext,
  environment: Environment,
  operations: readonly Operation[],
): Promise<void> {
  await forEachConcurrently(operations, async (operation) => {
    const { outcome } = await sendAttempt(
      environment,
      environment.answers.begin(operation),
      oneOf(environment.instances),
    )
    context.expect(outcome === 'final', `${operation.method} ${operation.path} was answered ${outcome}`)
  })
}

/** What was answered last is answered once more, to the letter. */
async function replayRecent(context: ScenarioContext, environment: Environment): Promise<void> {
  const deadline = performance.now() + context.limit(RETRY_TIMEOUT_MS)
  await forEachConcurrently(environment.answers.takeRecent(), async ({ key, operation, status, text }) => {
    let result = await sendAttempt(environment, { key, operation }, oneOf(environment.instances))
    // What opens its private part may still run into a connection that broke in the trouble.
    while (result.outcome === 'retry' && performance.now() < deadline) {
      await context.pause(100)
      result = await sendAttempt(environment, { key, operation }, oneOf(environment.instances))
    }
    if (result.outcome !== 'final')
      context.expect(false, `${key} was answered ${status} and then, asked again, ${result.outcome}`)
    else context.expect(result.replayed && result.text === text, `${key} was answered ${text} and then ${result.text}`)
  })
}

async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
}
