import { randomUUID } from 'node:crypto'
import { command } from '../ledger/command.ts'
import type { Verb } from '../ledger/decider.ts'
import type { Executor } from '../ledger/executor.ts'

/** Runs a verb for the service itself. Throws when the rules refuse it. */
export async function runAsSystem<Input, Answer>(
  executor: Executor,
  verb: Verb<Input, Answer>,
  input: Input,
): Promise<void> {
  const cause = { actor: 'system', requestId: randomUUID(), idempotency: null }
  const { reply } = await executor.run(
    command(verb, input, cause, {
      answered: () => ({ status: 200, body: '' }),
      refused: (refusal) => ({ status: 422, body: JSON.stringify(refusal) }),
    }),
  )
  if (reply.status !== 200) throw new Error(`the service's own command was refused: ${reply.body}`)
}
