import { randomUUID } from 'node:crypto'
import { command } from '../ledger/executor/command.ts'
import type { Executor } from '../ledger/executor/executor.ts'
import type { Verb } from '../ledger/rules/verb.ts'

/** Executes a verb as the service itself and resolves to its answer. Throws when the rules refuse it. */
export async function runAsSystem<Input, Answer>(
  executor: Pick<Executor, 'run'>,
  verb: Verb<Input, Answer>,
  input: Input,
): Promise<Answer> {
  let answer: { readonly value: Answer } | undefined
  const cause = { actor: 'system', requestId: randomUUID(), idempotency: null }
  const { reply } = await executor.run(
    command(verb, input, cause, {
      presentResult: (value) => {
        answer = { value }
        return { status: 200, body: '' }
      },
      presentRefusal: (refusal) => ({ status: 422, body: JSON.stringify(refusal) }),
    }),
  )
  if (answer === undefined || reply.status !== 200) {
    throw new Error(`the service's own command was refused: ${reply.body}`)
  }
  return answer.value
}
