import { Value } from '@sinclair/typebox/value'
import { ErrorBody } from '../../schema/common.ts'
import type { HttpResponse } from '../harness/http/response.ts'
import { UNKNOWN_CANARY } from './hostile-values.ts'

const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ERROR_FIELDS: readonly string[] = ['message', 'code', 'errors', 'request_id']
const MAX_ANSWER_BYTES = 1_048_576

/** Internals that are nobody's business: stacks, files, statements, addresses. */
const INTERNALS =
  /\n\s+at |\\n\s+at |node_modules|node:internal|file:\/\/|\/src\/|\.ts:\d|postgres:\/\/|\bselect .* from \w+|ECONN|SQLSTATE/i

/** Texts that nobody may ever be shown, by their names. */
export type Secrets = ReadonlyMap<string, string>

/** What is in a text that must not be; null when nothing is. */
export function leakIn(text: string, secrets: Secrets): string | null {
  for (const [name, secret] of secrets) if (text.includes(secret)) return name
  return INTERNALS.exec(text)?.[0] ?? null
}

/** What is wrong with any answer, whatever was asked; null when nothing is. */
export function faultOf(response: HttpResponse, secrets: Secrets, isHead = false): string | null {
  const { status, headers, text } = response
  const id = headers.get('x-request-id')
  if (id === undefined || !REQUEST_ID.test(id)) return 'without a request id'
  for (const name of ['set-cookie', 'server', 'x-powered-by', 'x-injected']) {
    if (headers.has(name)) return `with a header ${name}`
  }
  const leak = leakIn(`${text}\n${[...headers.values()].join('\n')}`, secrets)
  if (leak !== null) return `with ${leak} in it`
  if (status < 400) return contentFault(response)
  if (isHead) return null
  if (status >= 500 || status === 426) return isExpectedOutage(response) ? null : 'a failure of ours'
  return errorFault(response)
}

/** The statuses of maintenance, of a forced update, and of an instance that is not ready. */
function isExpectedOutage({ status, text }: HttpResponse): boolean {
  const { type, code } = fieldsOf(text)
  return (status === 503 && (type === 'maintenance' || code === 'not_ready')) || (status === 426 && type === 'update')
}

function errorFault({ status, headers, text }: HttpResponse): string | null {
  const type = headers.get('content-type')
  if (type !== 'application/json; charset=utf-8') return `as ${type}`
  const body: unknown = fieldsOf(text)
  if (!Value.Check(ErrorBody, body)) return 'not of the form of errors'
  const unknown = Object.keys(body).find((name) => !ERROR_FIELDS.includes(name))
  if (unknown !== undefined) return `with a field ${unknown}`
  if (body.request_id !== headers.get('x-request-id') && headers.get('idempotency-replayed') !== 'true') {
    return 'with the id of another request'
  }
  if (!/^[a-z][a-z0-9_]*$/.test(body.code) || body.message === '') return 'without code or message'
  if (status === 401 && headers.get('www-authenticate') !== 'Bearer') return 'without www-authenticate'
  if (status === 429 && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? '')) return 'without retry-after'
  return null
}

/** Errors may quote the client, and so does the check of a draw; pages for people may be large, answers compressed. */
function contentFault({ headers, text }: HttpResponse): string | null {
  if (headers.has('content-encoding') || !headers.get('content-type')?.startsWith('application/json')) return null
  return text.startsWith('{"data":{"algorithm":') ? quotedFault(text) : faultInText(text)
}

/** Escapes of control characters but the line break, and of lone surrogates, as JSON writes them. */
const ESCAPED_CONTROL = /(?<!\\)(?:\\\\)*\\(?:u00[01]|u007f|ud[89a-f]|[bfrt])/i
/** C1 controls and the marks that turn the direction of text, which JSON does not escape. */
const RAW_CONTROL = /[\u007f-\u009f\u202a-\u202e]/

/** What is wrong with JSON that the service made of what it keeps; null when nothing is. */
export function faultInText(text: string): string | null {
  const fault = quotedFault(text)
  if (fault !== null) return fault
  if (ESCAPED_CONTROL.test(text)) return 'with a control character or half a character'
  if (RAW_CONTROL.test(text)) return 'with a control character or a mark of direction'
  return text.isWellFormed() && text === text.normalize('NFC') ? null : 'with text that is not normalised'
}

function quotedFault(text: string): string | null {
  if (text.length > MAX_ANSWER_BYTES) return `of ${(text.length / 1e6).toFixed(1)} MB`
  return text.includes(UNKNOWN_CANARY) ? 'with the value of an unknown field' : null
}

/** The object in a text; one without fields where there is none. */
function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? { ...body } : {}
  } catch {
    return {}
  }
}
