import { test } from 'tap'
import { globalEvents, globalStates, roomEvents, userEvents, userStates } from '../../../schema/channel-events.ts'
import { clientFrames, serverFrames } from '../../../schema/frames.ts'
import { bearer, createMinimalApp, token } from '../../harness/app/minimal-app.ts'

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>>; readonly securitySchemes: object }
}

interface Operation {
  readonly operationId: string
  readonly security: readonly object[]
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[]
  readonly responses: Readonly<Record<string, { readonly content?: unknown }>>
}

test('the OpenAPI document lists every route once', async (t) => {
  const { app } = await createMinimalApp(t)
  const document: Document = (await app.inject('/docs/json')).json()
  t.match(document.openapi, /^3\.1\./)
  const clientNames =
    'charged costliest costly devices/{token} mishaps/{name} optional payments reads runs things things/{id}'
  const admin = ['/admin/v1/checks', '/admin/v1/things']
  const client = clientNames.split(' ').map((name) => `/api/v1/${name}`)
  t.same(Object.keys(document.paths).sort(), [...admin, ...client, '/healthz', '/metrics', '/readyz'])
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const names = operations.map(({ operationId }) => operationId)
  t.equal(new Set(names).size, names.length, 'each operation has its own name')
  t.ok(names.includes('postThings'), names.join())

  const post = document.paths['/api/v1/things']?.['post']
  t.same(post?.security, [{ bearer: [] }])
  t.match(post?.parameters, [{ name: 'Idempotency-Key', in: 'header' }])
  const get = document.paths['/api/v1/things']?.['get']
  t.ok(get?.parameters?.some(({ name, required }) => name === 'X-Ledger-Position' && required === false))
  const statuses = ['200', '400', '401', '403', '413', '415', '422', '426', '429', '440', '500', '503']
  t.same(Object.keys(post?.responses ?? {}).sort(), statuses)
  t.match(post?.responses['422']?.content, {
    'application/json': {
      schema: {
        allOf: [
          { $ref: '#/components/schemas/ErrorBody' },
          { properties: { code: { $ref: '#/components/schemas/ValidationFailedCode' } } },
        ],
      },
    },
  })
  t.same(document.paths['/admin/v1/things']?.['put']?.responses['503'], undefined)
  t.same(document.paths['/healthz']?.['get']?.security, [])
  t.match(document.components.schemas['ValidationFailedCode'], { enum: ['validation_failed'] })
  t.match(document.components.schemas['ErrorBody'], { required: ['message', 'code', 'request_id'] })
})

test('the AsyncAPI document has all frames and events of a socket', async (t) => {
  const { app } = await createMinimalApp(t)
  const response = await app.inject('/docs/asyncapi.json')
  t.match(response.headers['content-type'], /^application\/json/)
  const { asyncapi, channels, components } = response.json()
  t.equal(asyncapi, '3.0.0')
  t.match(Object.keys(channels), ['socket', 'room', 'user', 'global'])
  const codes = '4001 4003 4004 4009 4026 4100 4101 4103'.split(' ')
  t.match(Object.keys(channels.socket['x-close-codes']), codes)
  const names = Object.values(components.messages).map((message) => Object(message).name)
  const frames = [...Object.keys(clientFrames), ...Object.keys(serverFrames)].filter((t) => t !== 'ev' && t !== 'state')
  const events = [roomEvents, userEvents, userStates, globalEvents, globalStates].flatMap((schemas) =>
    Object.keys(schemas),
  )
  t.same(new Set(names), new Set([...frames, ...events]))
  t.equal(names.length, frames.length + events.length)
  t.match(components.messages['one-to-room-lucky-gift-sent'].payload.properties, {
    event: { const: 'one-to-room:lucky-gift-sent' },
    prev: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    data: { properties: { receiversids: { type: 'array', items: { type: 'string' } } } },
  })
})

test('health, readiness and metrics need no token', async (t) => {
  let ready = true
  const { app, executor } = await createMinimalApp(t, { isReady: async () => ready })
  t.same((await app.inject('/healthz')).json(), { status: 'alive' })
  t.same((await app.inject('/readyz')).json(), { status: 'ready' })
  ready = false
  const response = await app.inject('/readyz')
  t.equal(response.statusCode, 503)
  t.match(response.json(), { code: 'not_ready', message: String, request_id: String })
  t.equal((await app.inject('/healthz')).statusCode, 200)

  await app.inject({ url: '/v1/things', headers: bearer(token()) })
  await app.inject({ url: `/v1/things/${'x'.repeat(20)}`, headers: bearer(token()) })
  await app.inject({ url: '/v1/no-such-path', headers: bearer(token()) })
  t.equal(executor.depth, 0)
  const { body, headers } = await app.inject('/metrics')
  t.match(headers['content-type'], /^text\/plain; version=0\.0\.4/)
  t.match(body, 'http_request_duration_seconds_count{method="GET",route="/v1/things",status="200"} 1\n')
  t.match(body, 'http_request_duration_seconds_count{method="GET",route="none",status="404"} 2\n')
  for (const name of ['ledger_batch_commands', 'ledger_batch_duration_seconds']) t.match(body, `# TYPE ${name} `)
  t.notMatch(body, 'no-such-path')
})

test('metrics are rendered at most ten times a second', async (t) => {
  const { app } = await createMinimalApp(t)
  const inject = async (): Promise<string> => (await app.inject('/metrics')).body
  const started = performance.now()
  const first = await inject()
  await app.inject('/healthz')
  const others = await Promise.all(Array.from({ length: 100 }, inject))
  t.match(others[0], 'route="/healthz",status="200"', 'it includes what happened before the request')
  t.notMatch(first, 'healthz')
  t.equal(new Set(others).size, 1, 'all share one rendering')
  await inject()
  const took = performance.now() - started
  t.ok(took >= 199, `${took} ms`)
})
