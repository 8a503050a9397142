import { Value } from '@sinclair/typebox/value'
import { ErrorBody } from '../../../schema/common.ts'
import type { HttpResponse } from '../../harness/http/response.ts'

const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ERROR_FIELDS: readonly string[] = ['message', 'code', 'errors', 'request_id']

/** Where something of ours stands that is nobody's business: stacks, files, statements, addresses. */
const INTERNALS =
  /\n\s+at |\\n\s+at |node_modules|node:internal|file:\/\/|\/src\/|\.ts:\d|postgres:\/\/|\bselect .* from \w+|ECONN|SQLSTATE/i

/** What nobody may ever be shown, by what it is. */
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
  if (status < 400 || isHead) return null
  if (status >= 500 || status === 426) return mayBe(response) ? null : 'a failure of ours'
  return errorFault(response)
}

/** The statuses of maintenance, of a forced update, and of an instance that is not ready. */
function mayBe({ status, text }: HttpResponse): boolean {
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

/** The object in a text; one without fields where there is none. */
export function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? { ...body } : {}
  } catch {
    return {}
  }
}
