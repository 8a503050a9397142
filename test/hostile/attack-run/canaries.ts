import type { HttpResponse } from '../../harness/http/response.ts'

/** Stands in fields that a route does not have, or not for what is asked: it may come back nowhere and be kept nowhere. */
export const UNKNOWN_CANARY = 'canary-unknown-5e1d'
/** Stands in bank details and notices: for requester, agent or manager and operators alone, and in clear in no table. */
export const SECRET_CANARY = 'canary-secret-5e1d'

const MAX_ANSWER_BYTES = 1_048_576

/** Escapes of control characters but the line break, and of lone surrogates, as JSON writes them. */
const ESCAPED_CONTROL = /(?<!\\)(?:\\\\)*\\(?:u00[01]|u007f|ud[89a-f]|[bfrt])/i
/** C1 controls and the marks that turn the direction of text, which JSON does not escape. */
const RAW_CONTROL = /[\u007f-\u009f\u202a-\u202e]/

/** What is wrong with JSON that the service made of what it keeps; null when nothing is. */
export function faultInText(text: string): string | null {
  const fault = faultInEcho(text)
  if (fault !== null) return fault
  if (ESCAPED_CONTROL.test(text)) return 'holds a control character or half a character'
  if (RAW_CONTROL.test(text)) return 'holds a control character or a mark of direction'
  return text.isWellFormed() && text === text.normalize('NFC') ? null : 'holds text that is not normalised'
}

/** As `faultInText`, of what may be the client's own words, which are not kept. */
function faultInEcho(text: string): string | null {
  if (text.length > MAX_ANSWER_BYTES) return `is of ${(text.length / 1e6).toFixed(1)} MB`
  return text.includes(UNKNOWN_CANARY) ? 'holds what stood in an unknown field' : null
}

/** As `faultInText`, of an answer. Errors may quote, and so does the check of a draw; pages for people may be large. */
export function faultInAnswer({ status, headers, text }: HttpResponse): string | null {
  const isJson = headers.get('content-type')?.startsWith('application/json') === true
  if (!isJson || status >= 400) return null
  return text.startsWith('{"data":{"algorithm":') ? faultInEcho(text) : faultInText(text)
}
