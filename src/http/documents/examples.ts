import { readdirSync, readFileSync } from 'node:fs'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { isJson } from './document-schemas.ts'

/** A value of the response of an earlier example of the same file, by its summary and a JSON pointer. */
const Reference = Type.Object({ of: Type.String(), at: Type.String() })
type Scalar = string | number

const Parameters = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))
const GivenParameters = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Reference]))

/** A request with the response that was recorded on the demo data; that of closings, on a ledger of January 2026. */
const StoredExample = Type.Object({
  operation: Type.String({ minLength: 1 }),
  /** What it shows, in a few words; no two of an operation are the same. */
  summary: Type.String({ minLength: 1 }),
  /** The user who asks, a role of staff, or nobody. */
  as: Type.Union([Type.Integer(), Type.Literal('operator'), Type.Literal('finance'), Type.Null()]),
  params: Type.Optional(GivenParameters),
  query: Type.Optional(Parameters),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** May contain references. */
  body: Type.Optional(Type.Unknown()),
  status: Type.Integer(),
  /** Absent where the answer is no JSON. */
  response: Type.Optional(Type.Unknown()),
})
export type StoredExample = Static<typeof StoredExample>

/** An example whose path can be filled in. */
export type Example = Omit<StoredExample, 'params'> & { readonly params?: Static<typeof Parameters> }

const folder = new URL('../../../schema/examples/', import.meta.url)

/** The files of examples, each recorded from its first entry to its last. */
export const exampleFiles = (): readonly URL[] =>
  readdirSync(folder)
    .sort()
    .map((name) => new URL(name, folder))

export const readStoredExamples = (file: URL): StoredExample[] =>
  Value.Parse(Type.Array(StoredExample), JSON.parse(readFileSync(file, 'utf8')))

/** The examples of a file, with what they name of earlier ones. */
export function readExamples(file: URL): readonly Example[] {
  const examples: Example[] = []
  for (const stored of readStoredExamples(file)) examples.push(resolveExample(stored, examples))
  return examples
}

/** Fills in what an example names of earlier ones; what these do not have is left out. */
export function resolveExample({ params, body, ...rest }: StoredExample, earlier: readonly Example[]): Example {
  const resolve = (given: unknown): unknown => {
    if (Value.Check(Reference, given)) {
      return valueAt(earlier.find(({ summary }) => summary === given.of)?.response, given.at)
    }
    if (Array.isArray(given)) return given.map(resolve)
    if (typeof given !== 'object' || given === null) return given
    return Object.fromEntries(Object.entries(given).map(([name, inner]) => [name, resolve(inner)]))
  }
  const values = Object.entries(params ?? {}).flatMap(([name, given]): [string, Scalar][] => {
    const value = resolve(given)
    return typeof value === 'string' || typeof value === 'number' ? [[name, value]] : []
  })
  return {
    ...rest,
    ...(params !== undefined && { params: Object.fromEntries(values) }),
    ...(body !== undefined && { body: resolve(body) }),
  }
}

const valueAt = (response: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .reduce((node: unknown, name) => Reflect.get(Object(node), name), response)

type MutableJson = Record<string, unknown>

/** Shows recorded requests and responses in an operation of the document. */
export function addExamples(operation: MutableJson, examples: readonly Example[]): void {
  const [first] = examples
  if (first === undefined) return
  for (const parameter of listIn(operation, 'parameters')) {
    const values = parameter['in'] === 'path' ? first.params : parameter['in'] === 'query' ? first.query : first.headers
    const value = values?.[String(parameter['name'])]
    const isText = isJson(parameter['schema']) && parameter['schema']['type'] === 'string'
    if (value !== undefined) parameter['example'] = isText ? String(value) : value
  }
  const request = mediaIn(operation['requestBody'])
  const responses = operation['responses']
  for (const { summary, as, body, status, response } of examples) {
    const key = summary.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    if (request !== null && body !== undefined) addTo(request, key, { summary, description: asks(as), value: body })
    const answered = isJson(responses) ? mediaIn(responses[status]) : null
    if (answered !== null && response !== undefined)
      addTo(answered, key, { summary, description: asks(as), value: response })
  }
}

/** Who asks, in words. */
const asks = (as: Example['as']): string =>
  as === null
    ? 'Asked without a token'
    : typeof as === 'number'
      ? `Asked by user ${as}`
      : `Asked by a token of role ${as}`

function addTo(media: MutableJson, key: string, example: object): void {
  media['examples'] = { ...(isJson(media['examples']) && media['examples']), [key]: example }
}

function mediaIn(holder: unknown): MutableJson | null {
  const content = isJson(holder) ? holder['content'] : undefined
  const media: unknown = isJson(content) ? content['application/json'] : undefined
  return isMutable(media) ? media : null
}

function listIn(operation: MutableJson, name: string): MutableJson[] {
  const list = operation[name]
  return Array.isArray(list) ? list.filter(isMutable) : []
}

const isMutable = (value: unknown): value is MutableJson => isJson(value)
