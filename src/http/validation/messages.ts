import type { FastifySchemaValidationError } from 'fastify'
import { TEXT_FORM } from '../../../schema/common.ts'

/**
 * Annotations of a schema. A title states the expected form, and the description then says what the field means; without
 * a title the description states the form.
 */
interface AnnotatedSchema {
  readonly title?: unknown
  readonly description?: unknown
  readonly [TEXT_FORM]?: unknown
}

/** The expected form as a schema states it, if it does. */
export function expectedForm(schema: AnnotatedSchema | undefined): string | undefined {
  const form = schema?.title ?? schema?.description
  return typeof form === 'string' ? form : undefined
}

/** A violation as Ajv reports it with `verbose`. */
export interface Violation extends FastifySchemaValidationError {
  readonly data?: unknown
  readonly parentSchema?: AnnotatedSchema
}

type MessageBuilder = (params: Violation['params'], limit: string) => string

/** What a field must be. No message repeats the value that was sent. */
const MESSAGES: Readonly<Record<string, MessageBuilder>> = {
  required: () => 'is required',
  type: ({ type }) => `must be ${oneOf([type].flat().map(withArticle))}`,
  const: ({ allowedValue }) => `must be ${JSON.stringify(allowedValue)}`,
  enum: ({ allowedValues }) => `must be ${oneOf([allowedValues].flat().map((value) => JSON.stringify(value)))}`,
  minimum: (_, limit) => `must be at least ${limit}`,
  maximum: (_, limit) => `must be at most ${limit}`,
  minLength: (_, limit) => (limit === '1' ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: (_, limit) => `must have at most ${limit} characters`,
  pattern: () => 'has an invalid format',
  minItems: (_, limit) => `must hold at least ${limit}`,
  maxItems: (_, limit) => `must hold at most ${limit}`,
  uniqueItems: () => 'must not hold the same twice',
  alternatives: ({ alternatives }) => `must be ${oneOf([alternatives].flat().map(String))}`,
}

const TEXT_RULE =
  'must be text without control characters, lone surrogates, directional overrides, isolates left open and more than ' +
  '30 combining marks in a row'

export function violationMessage(violation: Violation): string {
  const { keyword, params, message, data, parentSchema } = violation
  if (keyword === 'type' && params['type'] === 'string' && Array.isArray(data)) return 'must be a string, given once'
  if (parentSchema?.[TEXT_FORM] === true && (keyword === 'pattern' || keyword === TEXT_FORM)) return TEXT_RULE
  const form = expectedForm(parentSchema)
  if (keyword === 'pattern' && form !== undefined) return `must be ${form}`
  return MESSAGES[keyword]?.(params, String(params['limit'])) ?? message ?? 'is invalid'
}

export const withArticle = (type: unknown): string => {
  const name = String(type)
  if (name === 'null') return name
  return `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
}

function oneOf(alternatives: readonly string[]): string {
  const different = [...new Set(alternatives)]
  const last = different.pop() ?? 'something else'
  return different.length === 0 ? last : `${different.join(', ')} or ${last}`
}
