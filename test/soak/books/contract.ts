import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { ErrorBody } from '../../../schema/common.ts'
import { type Kind, kinds } from '../load/operations.ts'

/** The result of a request. */
export type Result =
  /** Done or refused, and stored. */
  | { readonly outcome: 'final'; readonly status: number; readonly text: string; readonly replayed: boolean }
  /** To be retried: it may or may not have been done. */
  | { readonly outcome: 'retry'; readonly status: number }
  /** No complete answer; `timedOut`: the client gave up, and the service may still execute it. */
  | { readonly outcome: 'cut'; readonly timedOut: boolean }
  /** An answer that the contract does not allow. */
  | { readonly outcome: 'invalid'; readonly status: number; readonly text: string }

/** The parts of a response that are judged. */
interface Response {
  readonly status: number
  /** By lower-case name; null when it is missing. */
  readonly header: (name: string) => string | null
  readonly text: string
}

/** Refusals with status 403. */
const forbidden = ['not_your_card', 'not_in_game', 'not_game_creator', 'not_your_withdrawal', 'not_your_decision']

/** An error without any other fields. */
const errorBody = TypeCompiler.Compile(Type.Object(ErrorBody.properties, { additionalProperties: false }))

/** Compares an answer with the contract: status, code, headers and schema of the body. */
export function judge(kind: Kind, { status, header, text }: Response): Result {
  const invalid: Result = { outcome: 'invalid', status, text: text.slice(0, 500) }
  if (header('content-type') !== 'application/json; charset=utf-8') return invalid
  const body = parsed(text)
  const replayed = header('idempotency-replayed') === 'true'
  const expected = kinds[kind]
  if (status === expected.status && expected.isBody(body)) return { outcome: 'final', status, text, replayed }
  if (!errorBody.Check(body)) return invalid
  const { code } = body
  if (status === (forbidden.includes(code) ? 403 : 422) && expected.refusals.includes(code))
    return { outcome: 'final', status, text, replayed }
  if (replayed) return invalid
  const isUnavailable = status === 500 && code === 'unavailable'
  const isOverloaded = status === 429 && code === 'overloaded' && /^[1-9]\d*$/.test(header('retry-after') ?? '')
  return isUnavailable || isOverloaded ? { outcome: 'retry', status } : invalid
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
