import type { LocalizedText } from '../../../schema/languages.ts'
import type { PresentRefusal } from '../../ledger/executor/command.ts'
import type { Refusal } from '../../ledger/rules/verb.ts'
import { errorBody } from './http-error.ts'

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

/** The replies to refusals, as clients get them: in the language of their request. */
export const refusalPresenter =
  (responseOf: RefusalResponseOf): PresentRefusal =>
  (refusal, { requestId, language = 'en' }) => {
    const { status, message } = responseOf(refusal)
    const problem = { code: refusal.refusal, text: message, errors: firstErrors(refusal.errors), data: refusal.data }
    const reply = { status, body: errorBody(problem, requestId, language) }
    return versionStatuses.has(status) ? { ...reply, isTransient: true } : reply
  }

/** What is refused for a version is asked for again with another, under the same key. */
const versionStatuses: ReadonlySet<number> = new Set([412, 428])

const MAX_ERROR_FIELDS = 100

const firstErrors = (errors: Refusal['errors']): Refusal['errors'] =>
  errors === undefined ? undefined : Object.fromEntries(Object.entries(errors).slice(0, MAX_ERROR_FIELDS))
