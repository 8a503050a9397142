import type { FastifySchemaValidationError } from 'fastify'
import type { LocalizedText } from '../../../schema/languages.ts'
import type { FieldErrors } from '../../language/messages.ts'
import { HttpError, InvalidPathParam } from '../errors/http-error.ts'
import { httpMessages } from '../messages.ts'
import { type Violation, violationMessage } from './messages.ts'
import { foldUnionErrors } from './union-errors.ts'

/** The part of a request that broke its schema, as Fastify calls it. */
type Part = 'body' | 'headers' | 'params' | 'querystring'

/** Fields with faults that are reported. */
const MAX_FIELDS = 20

/** 422 with a message for each fault of each field; 404 for an invalid path. */
export function schemaError(violations: FastifySchemaValidationError[], part: Part): HttpError {
  if (part === 'params') return new InvalidPathParam()
  const errors: Record<string, LocalizedText[]> = {}
  let fields = 0
  for (const violation of foldUnionErrors(violations)) {
    const field = fieldOf(violation, part)
    if (!Object.hasOwn(errors, field)) {
      if (fields === MAX_FIELDS) break
      fields += 1
      errors[field] = []
    }
    errors[field]?.push(violationMessage(violation))
  }
  return validationFailed(errors)
}

export const validationFailed = (errors: FieldErrors): HttpError =>
  new HttpError(422, 'validation_failed', httpMessages.validation_failed, { errors })

/** Such as `users.0.name`; faults of the whole body or query carry that name. */
function fieldOf({ instancePath, keyword, params }: Violation, part: Part): string {
  const names = instancePath.split('/').slice(1)
  if (keyword === 'required') names.push(String(params['missingProperty']))
  const field = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
  return field === '' ? part : field
}
