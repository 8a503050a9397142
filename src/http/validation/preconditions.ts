import type { FastifyRequest } from 'fastify'
import { httpMessages } from '../messages.ts'
import { validationFailed } from './validation.ts'

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
