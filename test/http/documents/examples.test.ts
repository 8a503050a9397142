import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { test } from 'tap'
import { openapiDocument } from '../../../scripts/openapi.ts'
import {
  type Example,
  exampleFiles,
  readExamples,
  readStoredExamples,
  resolveExample,
  type StoredExample,
} from '../../../src/http/documents/examples.ts'
import { authorizationAs } from '../../harness/app/demo-app.ts'
import { DocumentedResponses } from '../../harness/http/documented-responses.ts'
import { documentedRoutes } from '../../harness/http/documented-routes.ts'
import { createExampleApp } from './example-app.ts'

/** `npm test -- test/http/documents/examples.test.ts --snapshot` records the responses again. */
const IS_RECORDING = process.env['TAP_SNAPSHOT'] === '1'

/** What differs from one run to the next. */
const VOLATILE = new Set(
  (
    'at created_at updated_at started_at ended_at finished_at joined_at read_at valid_until sessions_revoked_before ' +
    'expires_at decided_at closed_at request_id outcome state result progress rate seconds_left up_to stopped_by ' +
    'next_cursor hash signature public_key sha256 game_uid uid draw winner losers commitment server_seed entries_hash entry'
  ).split(' '),
)

/** A response without what differs from one run to the next. */
function stable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stable)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value)
  return Object.fromEntries(fields.map(([name, inner]) => [name, VOLATILE.has(name) ? '…' : stable(inner)]))
}

let described: Promise<{ routes: ReturnType<typeof documentedRoutes>; responses: DocumentedResponses }> | undefined

/** What the document says of all routes; made once, as compiling it takes longer than the examples of a file. */
const describe = () =>
  (described ??= openapiDocument().then((document) => ({
    routes: documentedRoutes(document),
    responses: new DocumentedResponses(document),
  })))

for (const file of exampleFiles()) {
  test(`the examples of ${basename(file.pathname)} are what the service answers`, async (t) => {
    const { app } = await createExampleApp(t, file)
    const { routes, responses } = await describe()
    const known = IS_RECORDING ? [] : readExamples(file)
    const answered: Example[] = []
    const recorded: StoredExample[] = []
    for (const [i, stored] of readStoredExamples(file).entries()) {
      const example = resolveExample(stored, answered)
      if (!IS_RECORDING) t.same(example.params, known[i]?.params, 'its path is the recorded one')
      const route = routes.get(example.operation)
      if (route === undefined) throw new Error(`there is no operation ${example.operation}`)
      const { method, url } = route.fill(example)
      const response = await app.inject({
        method,
        url,
        headers: { ...authorizationAs(app, example.as), 'content-type': 'application/json', ...example.headers },
        ...(example.body === undefined ? {} : { payload: JSON.stringify(example.body) }),
      })
      const name = `${example.operation}: ${example.summary}`
      const isJson = String(response.headers['content-type']).startsWith('application/json')
      const body: unknown = isJson ? response.json() : undefined
      t.equal(response.statusCode, example.status, `${name}: ${isJson ? response.body : ''}`)
      t.equal(responses.difference({ method, url, status: response.statusCode, body }), null, name)
      if (!IS_RECORDING) t.same(stable(body), stable(example.response), name)
      const fresh = { status: response.statusCode, ...(isJson && { response: body }) }
      answered.push({ ...example, ...fresh })
      const isSame = isDeepStrictEqual(stable(body), stable(stored.response))
      recorded.push(isSame ? stored : { ...stored, ...fresh })
    }
    if (IS_RECORDING) writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`)
  })
}

test('every success of every operation has an example', async (t) => {
  const shown = exampleFiles().flatMap(readExamples)
  const examples = new Set(shown.map(({ operation, status }) => `${operation} ${status}`))
  t.same(
    successesOf(await openapiDocument()).filter((success) => !examples.has(success)),
    [],
    'an entry in schema/examples is missing',
  )
  const names = shown.map(({ operation, summary }) => `${operation}: ${summary}`)
  t.equal(new Set(names).size, names.length, 'no two of an operation have one summary')
})

/** The ids of operations, each with the statuses of its successes. */
const successesOf = (document: object): readonly string[] =>
  Object.values<object>(Reflect.get(document, 'paths')).flatMap((methods) =>
    Object.values<{ operationId: string; responses: object }>(Object(methods)).flatMap(({ operationId, responses }) =>
      Object.keys(responses).flatMap((status) => (status.startsWith('2') ? [`${operationId} ${status}`] : [])),
    ),
  )
