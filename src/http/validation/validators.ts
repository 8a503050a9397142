import { Ajv, type AnySchema, type Options, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'
import { textForm } from './text-form.ts'

/** Nothing is converted, filled in or removed, texts are put into their normal form, and a fault carries what `sentences.ts` needs to speak of it. */
const options = {
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  verbose: true,
  keywords: [textForm],
} as const satisfies Options

/** Bodies of which only the first fault is collected: even counting what they hold would take too long. */
const largeBodies = new WeakSet<object>()

export function markLarge(body: unknown): void {
  if (typeof body === 'object' && body !== null) largeBodies.add(body)
}

/** Values in a request, however deep, of which every fault is collected; of a larger one only the first is. */
const MAX_COLLECTED_VALUES = 500

/**
 * Makes the validators of all routes. Each request is first checked up to its first fault: lists are bounded before
 * their items are looked at, and a large body of nothing but faults costs no more than a good one. Only of a small one
 * are all faults collected then, by a validator that is compiled when it is first needed.
 */
export function validatorCompiler(): FastifySchemaCompiler<AnySchema> {
  const first = new Ajv({ ...options, allErrors: false })
  const every = new Ajv({ ...options, allErrors: true })
  return ({ schema }) =>
    inTwoPasses(
      first.compile(schema),
      once(() => every.compile(schema)),
    )
}

function inTwoPasses(
  first: ValidateFunction,
  every: () => ValidateFunction,
): ReturnType<FastifySchemaCompiler<unknown>> {
  const validate: ReturnType<FastifySchemaCompiler<unknown>> = (data: unknown) => {
    if (first(data)) return true
    const all = hasAtMostValues(data, MAX_COLLECTED_VALUES) ? every() : first
    validate.errors = all(data) ? [] : (all.errors ?? [])
    return false
  }
  return validate
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** Whether a value holds at most so many values, itself included. One that holds more is not walked to its end. */
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
