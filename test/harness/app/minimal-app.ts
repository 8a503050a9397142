import { Writable } from 'node:stream'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { Pool } from 'pg'
import { Flag, Id, PageQuery, Text } from '../../../schema/common.ts'
import { type AppParts, build } from '../../../src/app.ts'
import { queryBuilder } from '../../../src/db/queries/query-builder.ts'
import type { Slice } from '../../../src/features/slice.ts'
import { type AppStateGate, alwaysOpen } from '../../../src/http/auth/gate.ts'
import { Sessions, StaffSessions } from '../../../src/http/auth/sessions.ts'
import { HttpError } from '../../../src/http/errors/http-error.ts'
import { charge } from '../../../src/http/limits/rate-limit.ts'
import { createLogger } from '../../../src/http/observability/logging.ts'
import { Metrics } from '../../../src/http/observability/metrics.ts'
import { inputSchema, registerVerb } from '../../../src/ledger/executor/command.ts'
import { Executor, type Limits } from '../../../src/ledger/executor/executor.ts'
import { encodeToken, hs256, nowSeconds } from '../http/tokens.ts'
import { unreachableUrl } from '../postgres/unreachable-url.ts'
import type { Scope } from '../scope.ts'
import { appParts, SECRET } from './app-parts.ts'

/** The HTTP layer with a slice of test routes and a database that cannot be reached. */

const Thing = Type.Object({
  count: Type.Integer({ minimum: 1, maximum: 10 }),
  name: Text(10, 1),
  loud: Type.Optional(Flag),
  parts: Type.Optional(Type.Array(Type.Object({ id: Id }), { minItems: 1, maxItems: 3, uniqueItems: true })),
  kind: Type.Optional(Type.Union([Type.Literal('big'), Type.Literal('small')])),
  note: Type.Optional(Type.Union([Text(5), Type.Null()])),
  where: Type.Optional(Type.Union([Id, Type.String({ pattern: '^R', description: 'a uid that begins with R' })])),
})
const Payment = Type.Union([
  Type.Object({ type: Type.Literal('cash'), manager: Id, quick: Type.Optional(Flag) }),
  Type.Object({ type: Type.Literal('agent'), agent: Id, country: Id }),
])

const nothing = registerVerb<null, null>('nothing', inputSchema(Type.Null()), {
  refusals: [],
  reads: () => [],
  decide: () => [],
  result: () => null,
})

/** What a route throws, by the name in its path. */
const failures: Readonly<Record<string, () => unknown>> = {
  stall: () => {
    for (const until = performance.now() + 1_200; performance.now() < until; ) continue
    return new Error('after a stall')
  },
  bug: () => new TypeError('a secret of ours'),
  text: () => 'a thrown text',
  http: () =>
    new HttpError(
      403,
      'not_yours',
      { en: 'Not yours.', ar: 'ليس لك.' },
      { errors: { id: [{ en: 'is not yours', ar: 'ليس لك' }] } },
    ),
  // Like an error of a plugin, whose message no client may see.
  plugin: () => Object.assign(new Error('a secret of ours'), { statusCode: 503 }),
  teapot: () => Object.assign(new Error('a secret of ours'), { statusCode: 418 }),
}

const minimalSlice: Slice = {
  documentedPrefix: '/api/v1',
  configure: () => ({
    routes(app, { execute, db }) {
      app.get('/things', { schema: { tags: ['things'], querystring: PageQuery } }, (request, reply) =>
        reply.send({ data: request.query, caller: request.caller }),
      )
      app.post('/things', { schema: { tags: ['things'], body: Thing } }, async (request) => ({ data: request.body }))
      app.post('/optional', { schema: { body: Type.Object({ seed: Type.Optional(Text(5)) }) } }, async (request) => ({
        data: request.body,
      }))
      app.post('/payments', { schema: { body: Payment } }, async (request) => ({ data: request.body }))
      app.delete('/things/:id', { schema: { params: Type.Object({ id: Text(20) }) } }, async (request) => ({
        data: request.params.id,
      }))
      app.delete('/devices/:token', async () => ({ data: null }))
      app.get('/costly', { config: { cost: 4 } }, async () => ({ data: null }))
      app.get('/costliest', { config: { cost: 40 } }, async () => ({ data: null }))
      app.get('/charged', async (request) => {
        charge(request, 10)
        return { data: null }
      })
      app.post('/runs', (request, reply) => execute(request, reply, nothing, null))
      app.get('/reads', async () => ({ data: await db.selectFrom('users').select('user_id').execute() }))
      app.get('/mishaps/:name', { schema: { params: Type.Object({ name: Type.String() }) } }, async (request) => {
        throw failures[request.params.name]?.()
      })
    },
    adminRoutes(app) {
      app.get('/things', async (request) => ({ data: request.caller }))
      app.put('/things', { schema: { body: Type.Object({ text: Type.String() }) } }, async (request) => ({
        data: request.body.text.length,
      }))
      app.post('/checks', { config: { mayFinanceWrite: true } }, async () => ({ data: null }))
    },
  }),
}

interface MinimalApp {
  readonly metrics: Metrics
  readonly app: FastifyInstance
  readonly executor: Executor
  /** Every line that was logged. */
  readonly log: readonly string[]
}

interface Options
  extends Partial<
    Pick<
      AppParts,
      | 'slices'
      | 'jwt'
      | 'rateLimit'
      | 'addressLimit'
      | 'trustProxy'
      | 'metricsToken'
      | 'tokenRules'
      | 'sessions'
      | 'isReady'
      | 'isVoid'
      | 'docs'
      | 'assetDir'
      | 'allowedOrigins'
    >
  > {
  readonly gate?: AppStateGate
  readonly limits?: Partial<Limits>
  readonly logLevel?: string
}

/** Users 1 to 99 exist; the sessions of user 9 and of staff member `bob` were revoked a minute ago. */
export async function createMinimalApp(t: Scope, options: Options = {}): Promise<MinimalApp> {
  const { gate = alwaysOpen.gate, limits = {}, logLevel = 'debug', ...parts } = options
  const db = queryBuilder(new Pool({ connectionString: unreachableUrl }))
  const metrics = new Metrics()
  const executor = new Executor({
    url: unreachableUrl,
    tables: [],
    evolve: () => {},
    observer: metrics.observer(() => {}),
    limits,
  })
  const log: string[] = []
  const stream = new Writable({
    write(line, _encoding, done) {
      log.push(String(line))
      done()
    },
  })
  const defaults = {
    slices: [minimalSlice],
    sessions: new Sessions(async (id) => (id === 9 ? nowSeconds() - 60 : id < 100 ? 0 : null)),
    log: createLogger(logLevel, stream),
    metrics,
    publicUrl: () => 'https://live.test/economy',
  }
  const staffSessions = new StaffSessions(async (sub) => (sub === 'bob' ? nowSeconds() - 60 : 0))
  const services = { appState: { ...alwaysOpen, gate }, staffSessions }
  const app = await build(appParts({ executor, db, url: unreachableUrl }, { ...defaults, ...parts }, services))
  await app.ready()
  t.teardown(async () => {
    await app.close()
    await executor.close()
    await db.destroy()
  })
  return { app, executor, metrics, log }
}

/** A token with valid claims for user 7, overridden by these; an undefined claim is left out. */
export function token(claims: Readonly<Record<string, unknown>> = {}, secret = SECRET): string {
  return encodeToken({ alg: 'HS256', typ: 'JWT' }, { ...validClaims(), ...claims }, hs256(secret))
}

export const validClaims = () => ({ sub: '7', iat: nowSeconds(), exp: nowSeconds() + 600 })

export const bearer = (text: string): { authorization: string } => ({ authorization: `Bearer ${text}` })
