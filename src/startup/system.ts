import { randomUUID } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Executor } from '../ledger/executor/executor.ts'
import type { RegisteredVerb } from '../ledger/executor/registered-verb.ts'
import type { Refusal } from '../ledger/rules/verb.ts'

const Body = Type.Object({ data: Type.Unknown() })

/** Runs a verb as the service itself, on the writer; resolves to the data of the reply. Throws when the rules refuse it. */
export async function sendAsSystem<Input>(
  executor: Pick<Executor, 'run'>,
  verb: RegisteredVerb<Input>,
  input: Input,
): Promise<unknown> {
  const cause = { actor: 'system', requestId: randomUUID(), idempotency: null }
  const presentRefusal = (refusal: Refusal) => ({ status: 422, body: JSON.stringify(refusal) })
  const { reply } = await executor.run(verb.command(input, cause, presentRefusal))
  const body: unknown = JSON.parse(reply.body)
  if (reply.status !== 200 || !Value.Check(Body, body)) {
    throw new Error(`the service's own command was refused: ${reply.body}`)
  }
  return body.data
}
