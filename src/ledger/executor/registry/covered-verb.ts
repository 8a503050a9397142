import { type CoveredCall, type CoveredVerb, coveredCall, type FindCoveredCall } from '../../rules/covered-verb.ts'
import type { InputSchema } from './registered-verb.ts'

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
