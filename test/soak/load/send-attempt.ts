import type { Instance } from '../../harness/scenario/service-instance.ts'
import type { Attempt } from '../books/answers.ts'
import { judge, type Result } from '../books/contract.ts'
import type { Environment } from '../environment/environment.ts'

/** Sends a command once and notes the result. Never rejects. */
export async function sendAttempt(
  environment: ClientContext,
  attempt: Attempt,
  { origin }: Pick<Instance, 'origin'>,
): Promise<Result> {
  const { answers, timeoutMs } = environment
  const started = performance.now()
  answers.sent()
  const result = await send(origin, attempt, environment.people.tokenOf(attempt.operation.actor), timeoutMs)
  answers.note(attempt, result, performance.now() - started)
  return result
}

/** The part of an environment that clients need. */
export type ClientContext = Pick<Environment, 'answers' | 'people' | 'timeoutMs'>

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
