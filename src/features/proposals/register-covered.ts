import {
  type InputSchema,
  type Presentation,
  type RegisteredVerb,
  registerCallerVerb,
} from '../../ledger/executor/command.ts'
import { type CoveredCall, type CoveredVerb, coveredCall, type FindCoveredCall } from './covered-verb.ts'
import { limited } from './make.ts'
import { proposalRecord } from './presenters.ts'

/** A covered verb under its name. */
export interface NamedCoveredVerb<Input, Answer, Codes extends readonly string[] = readonly string[]> {
  readonly name: string
  readonly schema: InputSchema<Input>
  readonly covered: CoveredVerb<Input, Answer, Codes>
  /** The call with an input from the ledger; null when the schema does not accept it. */
  receive(input: unknown): CoveredCall | null
}

/** Any covered verb, as far as it can be called without knowing its input. */
export type ReceivableCoveredVerb = Pick<NamedCoveredVerb<never, unknown>, 'name' | 'receive'>

export const nameCoveredVerb = <Input, Answer, Codes extends readonly string[]>(
  name: string,
  schema: InputSchema<NoInfer<Input>>,
  covered: CoveredVerb<Input, Answer, Codes>,
): NamedCoveredVerb<Input, Answer, Codes> => ({
  name,
  schema,
  covered,
  receive: (input) => (schema.accepts(input) ? coveredCall(covered, input) : null),
})

/** Finds calls of these verbs. */
export function findCallsOf(verbs: readonly ReceivableCoveredVerb[]): FindCoveredCall {
  const byName = new Map(verbs.map((verb) => [verb.name, verb]))
  return (name, input) => byName.get(name)?.receive(input) ?? null
}

/** Registers a verb of staff that may need a colleague's approval: beyond the limits it is proposed. */
export function registerCovered<Input, Answer>(
  { name, schema, covered }: NamedCoveredVerb<Input, Answer>,
  presentation: Presentation<Answer>,
): RegisteredVerb<Input> {
  const { status = 200, body = (answer: unknown) => ({ data: answer }) } = presentation
  return registerCallerVerb(name, schema, covered.verb.refusals, (maker) => limited(name, covered, maker), {
    status: (outcome) => ('proposed' in outcome ? 202 : typeof status === 'function' ? status(outcome.done) : status),
    body: (outcome, language) =>
      'proposed' in outcome ? { data: proposalRecord(outcome.proposed) } : body(outcome.done, language),
  })
}
