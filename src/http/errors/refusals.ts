import type { LocalizedText } from '../../../schema/languages.ts'
import type { Refusal } from '../../ledger/rules/verb.ts'

/** The HTTP response to a refusal. */
interface RefusalResponse {
  readonly status: 403 | 404 | 412 | 422 | 428
  readonly message: LocalizedText
}

/** Responses by refusal code. Codes are stable; messages are for people. */
export type Refusals = Readonly<Record<string, RefusalResponse>>

export type RefusalResponseOf = (refusal: Refusal) => RefusalResponse

/** The HTTP status of a refusal code. */
export type RefusalStatusOf = (code: string) => number

/** Finds the response to a code. Throws when two lists declare the same code. */
export function refusalResponsesIn(lists: readonly Refusals[]): RefusalResponseOf {
  const responses = new Map<string, RefusalResponse>()
  for (const [code, response] of lists.flatMap(Object.entries<RefusalResponse>)) {
    if (responses.has(code)) throw new Error(`the refusal ${code} is declared twice`)
    responses.set(code, response)
  }
  return ({ refusal }) => {
    const response = responses.get(refusal)
    if (response === undefined) throw new Error(`the refusal ${refusal} is declared by no model`)
    return response
  }
}
