import type { RefusalStatusOf } from '../errors/refusals.ts'
import { type DocumentSchemas, isJson, type Json } from './document-schemas.ts'
import { type Checks, errorResponse, responsesOfChecks, sharedResponses } from './error-responses.ts'
import { addExamples, exampleFiles, readExamples } from './examples.ts'
import type { OperationDetails } from './operations.ts'

type MutableJson = Record<string, unknown>

interface Parts {
  readonly schemas: DocumentSchemas
  readonly details: ReadonlyMap<string, OperationDetails>
  readonly statusOf: RefusalStatusOf
}

/** Adds what the plugin cannot know: components, errors with their codes, descriptions of responses, and examples. */
export function completeDocument(document: object, { schemas, details, statusOf }: Parts): void {
  const examples = Map.groupBy(exampleFiles().flatMap(readExamples), ({ operation }) => operation)
  const components = childOf(document, 'components')
  for (const path of childrenOf(childOf(document, 'paths'))) {
    for (const operation of childrenOf(path)) {
      const known = details.get(String(operation['operationId']))
      if (known === undefined) continue
      if (known.checks !== null) addParameters(operation, known.checks)
      addErrors(operation, known, schemas, statusOf)
      describeSuccesses(operation, known, schemas)
      relaxBody(operation, schemas)
      addExamples(operation, examples.get(known.operationId) ?? [])
    }
  }
  components['responses'] = sharedResponses(schemas)
  components['headers'] = sharedHeaders
  components['parameters'] = { ...languageParameters, ...clientParameters }
  components['schemas'] = schemas.components
}

function childOf(parent: object, name: string): MutableJson {
  const child: unknown = Reflect.get(parent, name)
  if (isMutable(child)) return child
  const made: MutableJson = {}
  Reflect.set(parent, name, made)
  return made
}

const childrenOf = (parent: MutableJson): MutableJson[] => Object.values(parent).filter(isMutable)

const isMutable = (value: unknown): value is MutableJson => isJson(value)

/** Responses of the checks that run before the operation, and its own refusals by status. */
function addErrors(
  operation: MutableJson,
  { operationId, checks, refusals, errorData, isWrite, hasParams, hasInput }: OperationDetails,
  schemas: DocumentSchemas,
  statusOf: RefusalStatusOf,
): void {
  if (checks === null) return
  const codes = new Set<string>(['forbidden'])
  if (hasParams) codes.add('not_found')
  if (hasInput) codes.add('validation_failed')
  for (const code of refusals ?? []) codes.add(code)
  // Only commands are remembered under their key.
  if (isWrite && refusals !== null) codes.add('idempotency_key_reused')
  const byStatus = Map.groupBy(codes, (code) => (code === 'forbidden' ? 403 : statusOf(code)))
  const own = [...byStatus].map(
    ([status, list]) => [status, errorResponse(status, list, errorData[status], operationId, schemas)] as const,
  )
  operation['responses'] = {
    ...responsesOfChecks(checks),
    ...Object.fromEntries(own),
    ...childOf(operation, 'responses'),
  }
}

const languageParameters: Json = {
  Lang: {
    name: 'lang',
    in: 'query',
    description:
      'The language of messages and names, `en` or `ar`; also as a header. It wins over Accept-Language; any other ' +
      'value is English',
    schema: { type: 'string' },
  },
  AcceptLanguage: {
    name: 'Accept-Language',
    in: 'header',
    description: 'Without `lang`: the language of highest quality among `en` and `ar`, else English',
    schema: { type: 'string' },
  },
}

const clientParameters: Json = {
  ClientType: {
    name: 'Client-Type',
    in: 'header',
    description: 'android, ios or flutter. Without it and Client-Version, what the token last told app-status counts',
    schema: { type: 'string' },
  },
  ClientVersion: {
    name: 'Client-Version',
    in: 'header',
    description: 'The installed version, such as 1.10.2: below the minimum of its type the answer is 426',
    schema: { type: 'string' },
  },
}

function addParameters(operation: MutableJson, { isClients }: Checks): void {
  const before = Array.isArray(operation['parameters']) ? operation['parameters'] : []
  const shared = Object.keys({ ...languageParameters, ...(isClients && clientParameters) })
  operation['parameters'] = [...before, ...shared.map((name) => ({ $ref: `#/components/parameters/${name}` }))]
}

const sharedHeaders: Json = {
  'X-Ledger-Position': {
    description:
      'The response takes into account every event of the ledger up to this position. A replayed response ' +
      '(Idempotency-Replayed) is as it was; its position is that of the replay',
    schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
  },
  'X-Ledger': {
    description:
      'The incarnation of the ledger that the position belongs to. Another one than before: commits were lost, and what ' +
      'was read before may no longer be so',
    schema: { type: 'string', pattern: '^[0-9a-f]{32}$' },
  },
  'Idempotency-Replayed': {
    description: 'Present when this is the first response to the same Idempotency-Key again: nothing was done now',
    schema: { type: 'string', const: 'true' },
  },
}

const refersTo = (header: string): Json => ({ [header]: { $ref: `#/components/headers/${header}` } })

/** Says what successful responses are and which headers they carry. */
function describeSuccesses(
  operation: MutableJson,
  { checks, isWrite, refusals, operationId }: OperationDetails,
  schemas: DocumentSchemas,
): void {
  const headers = {
    ...(isWrite && refusals !== null && refersTo('Idempotency-Replayed')),
    ...((checks?.isClients ?? operationId === 'appStatus') && {
      ...refersTo('X-Ledger-Position'),
      ...refersTo('X-Ledger'),
    }),
  }
  for (const [status, response] of Object.entries(childOf(operation, 'responses'))) {
    if (Number(status) >= 400 || !isMutable(response)) continue
    if (response['description'] === 'Default Response') {
      const schema = schemaIn(response)
      response['description'] = describeSuccess(schema, schemas) ?? (checks === null ? operation['summary'] : 'Success')
    }
    if (Object.keys(headers).length > 0) response['headers'] = headers
  }
}

/** The schema of a response in JSON. */
function schemaIn({ content }: MutableJson): unknown {
  const media: unknown = isJson(content) ? content['application/json'] : undefined
  return isJson(media) ? media['schema'] : undefined
}

/** A body without required fields may be left out: an empty body is one without fields. */
function relaxBody(operation: MutableJson, schemas: DocumentSchemas): void {
  if (!('requestBody' in operation)) return
  const body = childOf(operation, 'requestBody')
  const media = childOf(childOf(body, 'content'), 'application/json')
  body['required'] = schemas.requiresFields(media['schema'])
}

/** What a successful response contains, in words; null when its schema does not say it. */
function describeSuccess(schema: unknown, schemas: DocumentSchemas): string | null {
  if (!isJson(schema)) return null
  const whole = descriptionOf(schema, schemas)
  if (whole !== null) return whole
  const fields = schema['properties']
  if (!isJson(fields)) return null
  const { data, meta } = fields
  if (data === undefined) return meta === undefined ? null : 'Done; meta.message says it for people'
  if (!isJson(data)) return null
  if (data['type'] !== 'array') return descriptionOf(data, schemas)
  const { items } = data
  if (!isJson(items)) return null
  const [name, item] = [schemas.nameIn(items), descriptionOf(items, schemas)]
  if (name === null || item === null) return null
  const each = `${name}, each ${item.charAt(0).toLowerCase()}${item.slice(1)}`
  const isPage = isJson(meta) && schemas.nameIn(meta) === 'PageMeta'
  return isPage ? `A page of ${each}. meta.next_cursor leads to the next page` : `A list of ${each}`
}

/** The description of a schema, or of the one that it refers to; of a schema or null, both. */
function descriptionOf(schema: Json, schemas: DocumentSchemas): string | null {
  const { anyOf, description } = schema
  if (typeof description === 'string') return description
  if (Array.isArray(anyOf)) {
    const branches = anyOf.filter(isJson)
    const [only, ...others] = branches.filter((branch) => branch['type'] !== 'null')
    const one = only === undefined || others.length > 0 ? null : descriptionOf(only, schemas)
    return one === null || branches.length < 2 ? one : `${one}; null when there is none`
  }
  const name = schemas.nameIn(schema)
  const named = name === null ? undefined : schemas.components[name]
  return isJson(named) ? descriptionOf(named, schemas) : null
}
