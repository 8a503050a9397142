import { execFile } from 'node:child_process'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'tap'
import { type Example, exampleFiles, readStoredExamples, resolveExample } from '../../src/http/documents/examples.ts'
import { authorizationAs } from '../harness/app/demo-app.ts'
import { documentedRoutes } from '../harness/http/documented-routes.ts'
import { encodeToken, hs256, nowSeconds } from '../harness/http/tokens.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { startPrism } from '../harness/process/prism.ts'
import { startService } from '../harness/process/service.ts'
import { createExampleApp } from '../http/documents/example-app.ts'

// A validator that others wrote finds nothing wrong with requests, answers and the document.

const run = promisify(execFile)
const skip = onlyInFullRun
const JWT_SECRET = 'a secret that is only for tests, and long enough'

test('the journey of a client runs through Prism', { skip }, async (t) => {
  const { serviceUrl } = await testDatabase()
  const environment = { DATABASE_URL: serviceUrl, JWT_SECRET }
  const { origin } = await startService(t, environment)
  const document = Object(await (await fetch(`${origin}/docs/json`)).json())
  const prism = await startPrism(t, document, origin)
  const client = fileURLToPath(new URL('client/client.ts', import.meta.url))
  const claims = { sub: '1', iat: nowSeconds(), exp: nowSeconds() + 3_600 }
  const token = encodeToken({ alg: 'HS256', typ: 'JWT' }, claims, hs256(JWT_SECRET))
  // Prism takes no websockets.
  const { stdout } = await run(process.execPath, [client, prism.origin, token, '2', origin])
  t.ok(stdout.split('\n').filter((line) => line.startsWith('{"exchange"')).length >= 14)
  t.notMatch(stdout, /stoplight/)
})

for (const file of exampleFiles()) {
  test(`the examples of ${basename(file.pathname)} run through Prism`, { skip }, async (t) => {
    const { app } = await createExampleApp(t, file)
    const upstream = await app.listen({ host: '127.0.0.1', port: 0 })
    const document = Object(await (await fetch(`${upstream}/docs/json`)).json())
    const { origin } = await startPrism(t, document, upstream)
    const routes = documentedRoutes(document)
    const answered: Example[] = []
    for (const stored of readStoredExamples(file)) {
      const example = resolveExample(stored, answered)
      const route = routes.get(example.operation)
      if (route === undefined) throw new Error(`there is no operation ${example.operation}`)
      const { method, url } = route.fill(example)
      const response = await fetch(`${origin}${url}`, {
        method,
        headers: {
          ...authorizationAs(app, example.as),
          ...(example.body !== undefined && { 'content-type': 'application/json' }),
          ...example.headers,
        },
        ...(example.body !== undefined && { body: JSON.stringify(example.body) }),
      })
      const text = await response.text()
      const name = `${example.operation}: ${example.summary}`
      t.notMatch(text, /stoplight/, name)
      t.equal(response.headers.get('sl-violations'), null, name)
      t.equal(response.status, example.status, `${name}: ${text}`)
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
      answered.push({ ...example, ...(isJson && { response: JSON.parse(text) }) })
    }
  })
}
