import type { FastifyRequest } from 'fastify'
import { parseId } from '../../ledger/rules/account.ts'
import { type HttpError, InvalidPathParam } from '../errors/http-error.ts'
import { httpMessages } from '../messages.ts'
import { validationFailed } from './validation.ts'

/** The request's Idempotency-Key, if it has one; 422 for one that is not 1 to 255 printable ASCII characters. */
export function idempotencyKey(request: Pick<FastifyRequest, 'headers'>): string | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (!isKey(key)) throw invalidKey()
  return key
}

/** The error of an invalid Idempotency-Key. */
export function idempotencyKeyError({ headers }: Pick<FastifyRequest, 'headers'>): HttpError | undefined {
  const key = headers['idempotency-key']
  return key === undefined || isKey(key) ? undefined : invalidKey()
}

const isKey = (key: string | string[]): key is string => typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)

const invalidKey = (): HttpError => validationFailed({ 'Idempotency-Key': [httpMessages.invalid_key] })

/**
 * What a write expects to be stored: nothing by `If-None-Match: *`, a version by `If-Match` with its ETag; undefined without
 * either. 422 for any other form of them, which must not pass as no condition.
 */
export function expectedVersion({ headers }: Pick<FastifyRequest, 'headers'>): string | null | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (noneMatch !== undefined && (noneMatch !== '*' || match !== undefined)) {
    throw validationFailed({ 'If-None-Match': [httpMessages.invalid_none_match] })
  }
  if (noneMatch !== undefined) return null
  if (match === undefined) return undefined
  const version = /^"([0-9a-f]{64})"$/.exec(match)?.[1]
  if (version === undefined) throw validationFailed({ 'If-Match': [httpMessages.invalid_match] })
  return version
}

/** The ETag of a version. */
export const etagOf = (version: string): string => `"${version}"`

/** Parses a query string. An empty value and `null` are absent; a repeated one becomes a list, which no schema accepts. */
export function parseQuery(text: string): Record<string, string | string[]> {
  // Without a prototype, so that no name is special.
  const query: Record<string, string | string[]> = Object.create(null)
  if (text === '') return query
  for (const [name, value] of new URLSearchParams(text)) {
    if (value === '' || value === 'null') continue
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (typeof before === 'string') query[name] = [before, value]
    else before.push(value)
  }
  return query
}

/** The id in a path; throws a 404 when the text cannot be an id. */
export function idInPath(text: string): number {
  const id = parseId(text)
  if (id === null) throw new InvalidPathParam()
  return id
}

/** The id of a path with `:id`; throws a 404 when it cannot be one. */
export const idOf = ({ params }: Pick<FastifyRequest, 'params'>): number => idInPath(String(Object(params).id))
