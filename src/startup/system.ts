import { randomUUID } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { command } from '../ledger/executor/command.ts'
import type { Executor } from '../ledger/executor/executor.ts'
import type { RegisteredVerb } from '../ledger/executor/registered-verb.ts'
import type { Refusal, Verb } from '../ledger/rules/verb.ts'

const systemCause = () => ({ actor: 'system', requestId: randomUUID(), idempotency: null })

/** Executes a verb as the service itself and resolves to its answer. Throws when the rules refuse it. */
export async function runAsSystem<Input, Answer>(
  executor: Pick<Executor, 'run'>,
  verb: Verb<Input, Answer>,
  input: Input,
): Promise<Answer> {
  let answer: { readonly value: Answer } | undefined
  const { reply } = await executor.run(
    command(verb, input, systemCause(), {
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

const Body = Type.Object({ data: Type.Unknown() })

/** As `runAsSystem`, on the writer; resolves to the data of the reply. */
export async function sendAsSystem<Input>(
  executor: Pick<Executor, 'run'>,
  verb: RegisteredVerb<Input>,
  input: Input,
): Promise<unknown> {
  const presentRefusal = (refusal: Refusal) => ({ status: 422, body: JSON.stringify(refusal) })
  const { reply } = await executor.run(verb.command(input, systemCause(), presentRefusal))
  const body: unknown = JSON.parse(reply.body)
  if (reply.status !== 200 || !Value.Check(Body, body)) {
    throw new Error(`the service's own command was refused: ${reply.body}`)
  }
  return body.data
}
