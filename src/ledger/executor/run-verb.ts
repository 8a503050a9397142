import { randomUUID } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Refusal, Verb } from '../rules/verb.ts'
import { command, type RegisteredVerb } from './command.ts'
import type { Executor } from './executor.ts'

/** The rules refused a verb that no request asked for. */
export class VerbRefused extends Error {
  override readonly name = 'VerbRefused'
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(JSON.stringify(refusal))
    this.refusal = refusal
  }
}

/** Runs a verb that no request asks for, as `system` or `staff:ann`; resolves to its answer. Throws `VerbRefused`. */
export async function runVerb<Input, Answer>(
  executor: Pick<Executor, 'run'>,
  verb: Verb<Input, Answer>,
  input: Input,
  actor = 'system',
): Promise<Answer> {
  let outcome: { readonly answer: Answer } | { readonly refused: Refusal } | undefined
  await executor.run(
    command(
      verb,
      input,
      { actor, requestId: randomUUID(), idempotency: null },
      {
        presentResult: (answer) => {
          outcome = { answer }
          return { status: 200, body: '' }
        },
        presentRefusal: (refused) => {
          outcome = { refused }
          return { status: 422, body: '' }
        },
      },
    ),
  )
  if (outcome === undefined) throw new Error('the executor settled a command without its outcome')
  if ('refused' in outcome) throw new VerbRefused(outcome.refused)
  return outcome.answer
}

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
