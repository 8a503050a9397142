import type { FastifySchemaValidationError } from 'fastify'
import type { LocalizedText } from '../../../schema/languages.ts'
import type { FieldErrors } from '../../language/messages.ts'
import { HttpError, InvalidPathParam } from '../errors/http-error.ts'
import { httpMessages } from '../messages.ts'
import { constant, expectedForm, typeName, type Violation, violationMessage } from './messages.ts'

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

const isUnion = ({ keyword }: Violation): boolean => keyword === 'anyOf' || keyword === 'oneOf'

/**
 * For a union that nothing matches, Ajv reports every fault of each branch. This keeps the useful ones: the faults of the
 * branch that was meant, or one violation that names the alternatives.
 */
function foldUnionErrors(violations: readonly Violation[]): readonly Violation[] {
  if (!violations.some(isUnion)) return violations
  const left = [...violations]
  const folded: Violation[] = []
  for (let last = left.pop(); last !== undefined; last = left.pop()) {
    if (!isUnion(last)) {
      folded.push(last)
      continue
    }
    const branches = new Map<string, Violation[]>()
    for (let inner = left.at(-1); inner !== undefined && isWithin(inner, last); inner = left.at(-1)) {
      left.pop()
      const branch = inner.schemaPath.slice(last.schemaPath.length + 1).split('/', 1)[0] ?? ''
      const faults = branches.get(branch)
      if (faults === undefined) branches.set(branch, [inner])
      else faults.push(inner)
    }
    // Unions within a branch are folded first: the faults of their branches say nothing about this union's.
    const inOrder = [...branches.values()].toReversed().map((branch) => foldUnionErrors(branch.toReversed()))
    for (const violation of relevantErrors(last, inOrder).toReversed()) folded.push(violation)
  }
  return folded.toReversed()
}

const isWithin = (inner: Violation, union: Violation): boolean =>
  inner.schemaPath.startsWith(`${union.schemaPath}/`) &&
  (inner.instancePath === union.instancePath || inner.instancePath.startsWith(`${union.instancePath}/`))

function relevantErrors(union: Violation, branches: readonly (readonly Violation[])[]): readonly Violation[] {
  const possible = branches.filter((branch) => !branch.some((violation) => rulesOut(violation, union)))
  const whole = possible.filter((branch) => !branch.some((violation) => isMissingField(violation, union)))
  const meant = possible.length === 1 ? possible : whole
  const [only] = meant
  if (only !== undefined && meant.length === 1) return only
  const missingField = missingInAll(branches)
  const wrong = discriminator(branches)
  if (wrong !== undefined) return [wrong, ...missingField]
  return missingField.length > 0 ? missingField : [alternatives(union, branches)]
}

function missingInAll([first = [], ...others]: readonly (readonly Violation[])[]): readonly Violation[] {
  const missed = others.map((branch) => new Set(branch.filter(isMissing).map(missing)))
  return first.filter((violation) => isMissing(violation) && missed.every((fields) => fields.has(missing(violation))))
}

const isMissing = ({ keyword }: Violation): boolean => keyword === 'required'

/** The path of the missing field. */
const missing = ({ instancePath, params }: Violation): string => `${instancePath}/${String(params['missingProperty'])}`

/** Whether a fault shows that another branch was meant: a wrong type of value, or another constant in it. */
const rulesOut = (violation: Violation, union: Violation): boolean =>
  violation.keyword === 'const' || (violation.keyword === 'type' && violation.instancePath === union.instancePath)

/** Whether a fault is a missing field: a branch whose fields were all given was meant. */
const isMissingField = ({ keyword, instancePath }: Violation, union: Violation): boolean =>
  keyword === 'required' && instancePath === union.instancePath

/** The field whose constants distinguish the branches, when it has another value. */
function discriminator(branches: readonly (readonly Violation[])[]): Violation | undefined {
  const constants = branches.map((branch) => branch.find(({ keyword }) => keyword === 'const'))
  const [first] = constants
  if (first === undefined || constants.some((constant) => constant?.instancePath !== first.instancePath)) {
    return undefined
  }
  return { ...first, keyword: 'enum', params: { allowedValues: constants.map((c) => c?.params['allowedValue']) } }
}

function alternatives(union: Violation, branches: readonly (readonly Violation[])[]): Violation {
  const form = expectedForm(union.parentSchema)
  const allowed =
    form !== undefined
      ? [form]
      : branches
          .flat()
          .filter(({ instancePath }) => instancePath === union.instancePath)
          .map(({ keyword, params }) =>
            keyword === 'const' ? constant(params['allowedValue']) : typeName(params['type']),
          )
  return { ...union, keyword: 'alternatives', alternatives: allowed }
}
