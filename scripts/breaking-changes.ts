import { dereference } from '../test/harness/http/dereference.ts'

type Json = Readonly<Record<string, unknown>>

/** Who writes values of a schema: what clients send may be widened, what they read may be narrowed. */
type Side = 'request' | 'response'

/** The part of an OpenAPI document by which changes are judged: forms of requests and of successful answers. */
export function formOf(document: unknown): Json {
  return {
    paths: mapped(child(document, 'paths'), (methods) => mapped(child(methods), operationForm)),
    components: { schemas: mapped(child(document, 'components', 'schemas'), schemaForm) },
  }
}

function operationForm(operation: unknown): Json {
  const { parameters, requestBody, responses } = child(operation)
  const successes = Object.entries(child(responses)).filter(([status]) => Number(status) < 400)
  return {
    parameters: listOf(parameters).map((parameter) => withSchema(parameter, ['name', 'required'])),
    ...(requestBody !== undefined && { requestBody: withContent(requestBody) }),
    responses: Object.fromEntries(successes.map(([status, response]) => [status, withContent(response)])),
  }
}

const withSchema = (holder: unknown, names: readonly string[]): Json => ({
  ...picked(child(holder), names),
  ...('schema' in child(holder) && { schema: schemaForm(child(holder)['schema']) }),
})

const withContent = (holder: unknown): Json => ({
  ...picked(child(holder), ['required']),
  content: mapped(child(holder, 'content'), (media) => withSchema(media, [])),
})

function schemaForm(schema: unknown): Json {
  const { properties, items, anyOf, allOf, ...others } = child(schema)
  const [described] = listOf(allOf)
  // A reference with a description.
  if (described !== undefined) return schemaForm(described)
  return {
    ...picked(others, ['$ref', 'type', 'const', 'enum', 'required']),
    ...(properties !== undefined && { properties: mapped(child(properties), schemaForm) }),
    ...(items !== undefined && { items: schemaForm(items) }),
    ...(anyOf !== undefined && { anyOf: listOf(anyOf).map(schemaForm) }),
  }
}

const picked = (object: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]]))

const mapped = (object: Json, form: (value: unknown) => Json): Json =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, form(value)]))

/** What in a new OpenAPI document breaks clients that were built for the old one; each change is one sentence. */
export function breakingChanges(before: unknown, after: unknown): readonly string[] {
  const former = operationsOf(dereference(formOf(before)))
  const current = operationsOf(dereference(formOf(after)))
  return [...former].flatMap(([name, operation]) => {
    const now = current.get(name)
    if (now === undefined) return [`${name} was removed`]
    return [
      ...parameterChanges(operation, now),
      ...bodyChanges(operation, now),
      ...responseChanges(operation, now),
    ].map((change) => `${name}: ${change}`)
  })
}

function operationsOf(document: unknown): ReadonlyMap<string, Json> {
  const paths = Object.entries(child(document, 'paths'))
  return new Map(
    paths.flatMap(([path, methods]) =>
      Object.entries(child(methods)).map(([method, operation]): [string, Json] => [
        `${method.toUpperCase()} ${path}`,
        child(operation),
      ]),
    ),
  )
}

function parameterChanges(before: Json, after: Json): readonly string[] {
  const former = parametersOf(before)
  return [...parametersOf(after)].flatMap(([name, parameter]) => {
    const known = former.get(name)
    if (known === undefined) return parameter['required'] === true ? [`parameter ${name} is newly required`] : []
    const required = parameter['required'] === true && known['required'] !== true
    return [
      ...(required ? [`parameter ${name} is newly required`] : []),
      ...schemaChanges(known['schema'], parameter['schema'], 'request', `parameter ${name}`),
    ]
  })
}

const parametersOf = ({ parameters }: Json): ReadonlyMap<string, Json> =>
  new Map(listOf(parameters).map((parameter) => [String(child(parameter)['name']), child(parameter)]))

function bodyChanges(before: Json, after: Json): readonly string[] {
  const now = child(after, 'requestBody')
  const then = child(before, 'requestBody')
  const required = now['required'] === true && then['required'] !== true
  const changes = 'content' in then ? schemaChanges(schemaIn(then), schemaIn(now), 'request', 'body') : []
  return [...(required ? ['the body is newly required'] : []), ...changes]
}

function responseChanges(before: Json, after: Json): readonly string[] {
  const now = child(after, 'responses')
  return Object.entries(child(before, 'responses'))
    .filter(([status]) => Number(status) < 400)
    .flatMap(([status, response]) =>
      status in now
        ? schemaChanges(schemaIn(response), schemaIn(now[status]), 'response', status)
        : [`${status} is answered no more`],
    )
}

const schemaIn = (holder: unknown): unknown => child(holder, 'content', 'application/json')['schema']

/** Changes at one place of a schema and below it. */
function schemaChanges(before: unknown, after: unknown, side: Side, place: string): readonly string[] {
  const [then, now] = [child(before), child(after)]
  const former = branchesOf(then)
  const current = branchesOf(now)
  if (former.length > 1 || current.length > 1) return branchChanges(former, current, side, place)
  return [
    ...typeChanges(then, now, side, place),
    ...valueChanges(then, now, side, place),
    ...fieldChanges(then, now, side, place),
    ...('items' in then ? schemaChanges(then['items'], now['items'], side, `${place}[]`) : []),
  ]
}

const branchesOf = (schema: Json): readonly Json[] =>
  'anyOf' in schema ? listOf(schema['anyOf']).map(child0) : [schema]

/** Each former branch of what is sent, and each current one of what is read, needs one on the other side. */
function branchChanges(
  former: readonly Json[],
  current: readonly Json[],
  side: Side,
  place: string,
): readonly string[] {
  const [needed, offered] = side === 'request' ? [former, current] : [current, former]
  return needed.flatMap((branch) => {
    const fits = offered.some((other) => {
      const [then, now] = side === 'request' ? [branch, other] : [other, branch]
      return schemaChanges(then, now, side, place).length === 0
    })
    const verb = side === 'request' ? 'takes no more' : 'may newly be'
    return fits ? [] : [`${place} ${verb} ${kindOf(branch)}`]
  })
}

const kindOf = (schema: Json): string =>
  JSON.stringify(schema['const'] ?? schema['enum'] ?? schema['type'] ?? 'anything')

function typeChanges(then: Json, now: Json, side: Side, place: string): readonly string[] {
  if (then['type'] === now['type']) return []
  const [narrow, wide] = side === 'request' ? [then['type'], now['type']] : [now['type'], then['type']]
  return wide === undefined || (narrow === 'integer' && wide === 'number')
    ? []
    : [`${place} was ${String(then['type'])} and is ${String(now['type'])}`]
}

function valueChanges(then: Json, now: Json, side: Side, place: string): readonly string[] {
  const [former, current] = [valuesOf(then), valuesOf(now)]
  if (side === 'response') {
    if (former === null) return []
    if (current === null) return [`${place} is no longer one of ${former.join(', ')}`]
    // Statuses and kinds grow; clients must expect others only where no list was given.
    return current.filter((value) => !former.includes(value)).map((value) => `${place} may newly be ${String(value)}`)
  }
  if (current === null) return []
  if (former === null) return [`${place} is newly limited to ${current.join(', ')}`]
  return former.filter((value) => !current.includes(value)).map((value) => `${place} takes ${String(value)} no more`)
}

function valuesOf(schema: Json): readonly unknown[] | null {
  if ('const' in schema) return [schema['const']]
  return 'enum' in schema ? listOf(schema['enum']) : null
}

function fieldChanges(then: Json, now: Json, side: Side, place: string): readonly string[] {
  const [former, current] = [child(then, 'properties'), child(now, 'properties')]
  const requiredThen = listOf(then['required'])
  const requiredNow = listOf(now['required'])
  const common = Object.keys(former).filter((name) => name in current)
  const removed = Object.keys(former).filter((name) => !(name in current))
  const inner = common.flatMap((name) => schemaChanges(former[name], current[name], side, `${place}.${name}`))
  if (side === 'request') {
    const newly = requiredNow.filter((name) => !requiredThen.includes(name))
    return [
      ...removed.map((name) => `${place}.${name} is taken no more`),
      ...newly.map((name) => `${place}.${String(name)} is newly required`),
      ...inner,
    ]
  }
  const optional = common.filter((name) => requiredThen.includes(name) && !requiredNow.includes(name))
  return [
    ...removed.map((name) => `${place}.${name} was removed`),
    ...optional.map((name) => `${place}.${name} may newly be absent`),
    ...inner,
  ]
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const child0 = (value: unknown): Json => child(value)

/** What lies below an object at these names; empty where there is nothing. */
function child(value: unknown, ...names: readonly string[]): Json {
  const found = names.reduce((node: unknown, name) => Reflect.get(Object(node), name), value)
  return isJson(found) ? found : {}
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
