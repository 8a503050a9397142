import * as fc from 'fast-check'
import type { Schema } from '../../harness/http/api-routes.ts'
import { hostileValues, rawBodies } from './hostile-values.ts'
import { valueOf } from './values.ts'

const text = (value: unknown): string => JSON.stringify(value) ?? ''

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A body in which something is not as it should be: one of its values, at any depth, or its fields. */
export function mutated(schema: Schema): fc.Arbitrary<string> {
  return fc.tuple(valueOf(schema), hostileValues, fc.nat(), fc.nat(5)).map(([value, hostile, place, kind]) => {
    if (!isObject(value)) return text(hostile)
    const names = Object.keys(value)
    const name = names[place % Math.max(1, names.length)] ?? 'nothing'
    switch (kind) {
      case 0: {
        const { [name]: _, ...rest } = value
        return text(rest)
      }
      case 1:
        return text({ ...value, unknown: hostile, id: 2, user_id: hostile, actor: 'staff:root', role: 'operator' })
      // Twice the same key: the last one counts for us, the first one for some who stand in between.
      case 2:
        return `${text(value).slice(0, -1)}${names.length > 0 ? ',' : ''}${text(name)}:${text(hostile) || 'null'}}`
      case 3:
        return `{"__proto__":${text(hostile) || 'null'},"constructor":{"prototype":${text(value)}},${text(value).slice(1)}`
      default:
        return text(mutateAt(value, place, hostile))
    }
  })
}

/** Puts something else in place of one of the values within, whichever `place` leads to. */
function mutateAt(value: unknown, place: number, hostile: unknown): unknown {
  const inner = Array.isArray(value) ? value.map((_, i) => String(i)) : isObject(value) ? Object.keys(value) : []
  const name = inner[place % Math.max(1, inner.length)]
  if (name === undefined) return hostile
  const further = Math.floor(place / inner.length)
  const deeper = (one: unknown): unknown => (further % 3 === 0 ? mutateAt(one, further, hostile) : hostile)
  if (Array.isArray(value)) return value.map((one, i) => (String(i) === name ? deeper(one) : one))
  return isObject(value) ? { ...value, [name]: deeper(value[name]) } : hostile
}

/** A body as it is meant. */
export const valid = (schema: Schema): fc.Arbitrary<string> => valueOf(schema).map(text)

/** Bytes that have nothing to do with what is asked for. */
export const foreign: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...rawBodies).map((body) => Buffer.from(body)) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 4 }).map((body) => Buffer.from(body)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
)
