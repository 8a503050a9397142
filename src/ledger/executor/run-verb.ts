import { randomUUID } from 'node:crypto'
import type { Refusal, Verb } from '../rules/verb.ts'
import { command } from './command.ts'
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
