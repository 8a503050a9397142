import { Ajv, type Options, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { nullIsAbsent, withNullsAbsent } from './null-is-absent.ts'
import { textForm } from './text-form.ts'

/** Nothing is converted or filled in; texts are normalised; violations carry what `messages.ts` needs. */
const options = {
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  verbose: true,
  keywords: [textForm, nullIsAbsent],
} as const satisfies Options

/** Bodies of which only the first fault is collected, because even counting their values would take too long. */
const largeBodies = new WeakSet<object>()

export function markLarge(body: unknown): void {
  if (typeof body === 'object' && body !== null) largeBodies.add(body)
}

/** Requests with more values than this, at any depth, have only their first fault collected. */
const MAX_COLLECTED_VALUES = 500

const first = new Ajv({ ...options, allErrors: false })
const every = new Ajv({ ...options, allErrors: true })

type Validator = ReturnType<FastifySchemaCompiler<unknown>>

/** By schema, as several routes have the same. */
const validators = new WeakMap<object, Validator>()

/**
 * Makes the validator of a schema, which is compiled at its first request: 200 at once would take a second of every start.
 * A request is first checked up to its first fault: lists are bounded before their items are checked, and a large invalid
 * body costs no more than a valid one. Only small requests are then checked for all faults, by a second validator.
 */
export const compileValidator: FastifySchemaCompiler<object> = ({ schema }) => {
  let validator = validators.get(schema)
  if (validator === undefined) {
    const lenient = once(() => withNullsAbsent(schema))
    validator = inTwoPasses(
      once(() => first.compile(lenient())),
      once(() => every.compile(lenient())),
    )
    validators.set(schema, validator)
  }
  return validator
}

function inTwoPasses(upToFirst: () => ValidateFunction, toTheEnd: () => ValidateFunction): Validator {
  const validate: Validator = (data: unknown) => {
    if (upToFirst()(data)) return true
    const all = hasAtMostValues(data, MAX_COLLECTED_VALUES) ? toTheEnd() : upToFirst()
    validate.errors = all(data) ? [] : (all.errors ?? [])
    return false
  }
  return validate
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Whether a value contains at most so many values, itself included. Stops at the limit. */
export function hasAtMostValues(value: unknown, most: number): boolean {
  if (typeof value === 'object' && value !== null && largeBodies.has(value)) return false
  const left = [value]
  for (let seen = 1; left.length > 0; seen += 1) {
    const next = left.pop()
    if (typeof next !== 'object' || next === null) continue
    const inner: unknown[] = Array.isArray(next) ? next : Object.values(next)
    if (seen + left.length + inner.length > most) return false
    left.push(...inner)
  }
  return true
}
