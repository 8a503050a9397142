import { randomUUID } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  type onRequestHookHandler,
} from 'fastify'
import type { JwtKey } from './config/jwt-key.ts'
import type { Services } from './features/services.ts'
import type { Slice } from './features/slice.ts'
import { decorateCaller, staffCheck, userCheck } from './http/auth/auth.ts'
import { gateCheck } from './http/auth/gate.ts'
import type { Sessions } from './http/auth/sessions.ts'
import { hasGoodToken, limitStrangersBy } from './http/auth/strangers.ts'
import { ourTokens, type ReadToken, registerTokens, type TokenRules } from './http/auth/tokens.ts'
import { describeRoutes, hideRoutes } from './http/documents/docs.ts'
import { docsRoutes } from './http/documents/docs-routes.ts'
import { handleErrors, handleNotFound, handleUnroutable } from './http/errors/error-handlers.ts'
import type { AddressLimit } from './http/limits/address-limit.ts'
import { decorateAllowance, limitCheck } from './http/limits/limits.ts'
import { boundPipelining } from './http/limits/pipelining.ts'
import type { WriteAllowance } from './http/limits/write-allowance.ts'
import { writeCheck } from './http/limits/write-check.ts'
import { RequestLog } from './http/observability/logging.ts'
import type { Metrics } from './http/observability/metrics.ts'
import { serviceDoors } from './http/observability/service-routes.ts'
import { clientPrefixes } from './http/prefixes.ts'
import { handleOddRequests, serverOptions } from './http/server-options.ts'
import { becomesSocket } from './http/upgrades.ts'
import { CLIENT_BODY_LIMIT, OPERATOR_BODY_LIMIT, readBodies } from './http/validation/body.ts'
import { parseQuery } from './http/validation/query.ts'
import { schemaError } from './http/validation/validation.ts'
import { validatorCompiler } from './http/validation/validators.ts'
import type { ConnectionRegistry } from './realtime/sockets/connection-registry.ts'
import { registerSocketRoutes } from './realtime/sockets/upgrade.ts'

export interface Parts {
  readonly slices: readonly Slice[]
  readonly services: Services
  readonly sessions: Sessions
  readonly jwt: JwtKey
  readonly tokenRules: TokenRules
  /** Requests a minute for each caller; null is no limit. */
  readonly rateLimit: number | null
  /** For requests without a good token. */
  readonly addressLimit: AddressLimit
  /** Addresses and networks of proxies whose `X-Forwarded-For` is believed. */
  readonly trustProxy: readonly string[]
  /** What users may have stored by what costs nothing. */
  readonly writes: WriteAllowance
  readonly log: FastifyBaseLogger & { isLevelEnabled(level: string): boolean }
  readonly metrics: Metrics
  /** What readers of /metrics must show; null: anybody may read it. */
  readonly metricsToken: string | null
  readonly isReady: () => Promise<boolean>
  /** Whether /docs is answered. */
  readonly docs: boolean
  /** Where sockets go, and the pages that may open them; without it there are none. */
  readonly live?: {
    readonly lobbyWith: (read: ReadToken) => ConnectionRegistry
    readonly isAllowedOrigin: (origin: string) => boolean
  }
}

/** The service's HTTP side, not listening yet. */
export async function build(parts: Parts): Promise<FastifyInstance> {
  const { slices, services } = parts
  const log: FastifyBaseLogger = parts.log
  const requestLog = new RequestLog(log, parts.log.isLevelEnabled('debug'))
  const app = fastify({
    loggerInstance: log,
    logController: requestLog,
    // None a request: making one takes longer than most requests need a log at all. Its lines name the request.
    childLoggerFactory: (logger) => logger,
    trustProxy: parts.trustProxy.length === 0 ? false : [...parts.trustProxy],
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQuery, maxParamLength: 4096 },
    bodyLimit: CLIENT_BODY_LIMIT,
    ...serverOptions,
    http: { ...serverOptions.http, shouldUpgradeCallback: parts.live === undefined ? () => false : becomesSocket },
    schemaErrorFormatter: schemaError,
    frameworkErrors: handleUnroutable,
    // What arrives while we shut down is still answered; a 503 would show a maintenance screen.
    return503OnClosing: false,
  })
  app.setValidatorCompiler(validatorCompiler())
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    done()
  })
  parts.metrics.watchRequests(app)
  parts.metrics.eventLoopLag.watch(app, log)
  handleOddRequests(app)
  boundPipelining(app)
  readBodies(app)
  handleErrors(app, requestLog, parts.metrics)
  app.addHook('onClose', async () => requestLog.close())
  decorateCaller(app)
  decorateAllowance(app)
  await describeRoutes(app)
  const readToken = await registerTokens(app, parts.jwt, parts.tokenRules)
  const isOurs = ourTokens(readToken)
  const limitStranger = limitStrangersBy(parts.addressLimit, parts.metrics)
  serviceDoors(app, parts.metrics, parts.isReady, { token: parts.metricsToken, limitStranger })
  const mayRemember = (request: FastifyRequest): boolean =>
    hasGoodToken(request, readToken) || parts.addressLimit.take(request.ip)
  if (parts.docs) docsRoutes(app, readToken, limitStranger)
  const limit = parts.rateLimit === null ? [] : [limitCheck(app, parts.rateLimit, parts.metrics)]
  // The order of checks. A route's schema and then the rules of the business follow.
  const ofToken = [userCheck(readToken, parts.sessions, limitStranger), ...limit]
  const gate = gateCheck(services.appState.gate, isOurs)
  const clientChecks = [gate, ...ofToken, writeCheck(parts.writes, parts.metrics)]
  const staffChecks = [staffCheck(readToken, services.staffSessions, limitStranger), ...limit]

  if (parts.live !== undefined) {
    const { lobbyWith, isAllowedOrigin } = parts.live
    const { shownBy } = services.appState
    const { addressLimit, metrics } = parts
    const lobby = lobbyWith(readToken)
    await registerSocketRoutes(app, {
      registry: lobby,
      isAllowedOrigin,
      clientHintsOf: shownBy,
      beforeToken: [notStored, gate],
      tokenChecks: ofToken,
      addressLimit,
      metrics,
    })
  }
  for (const prefix of clientPrefixes) {
    await behind(app, prefix, clientChecks, (scope) => {
      for (const { documentedPrefix: published, routes } of slices) {
        void scope.register(async (doors) => {
          if (prefix !== published) hideRoutes(doors)
          routes?.(doors.withTypeProvider<TypeBoxTypeProvider>(), services)
        })
      }
    })
    for (const { documentedPrefix: published, openRoutes: open } of slices) {
      if (open === undefined) continue
      const openDoors = async (doors: FastifyInstance): Promise<void> => {
        if (prefix !== published) hideRoutes(doors)
        open(doors.withTypeProvider<TypeBoxTypeProvider>(), services, { isOurs, mayRemember })
      }
      await app.register(openDoors, { prefix })
    }
  }
  await behind(app, '/admin/v1', staffChecks, (scope) => {
    scope.addHook('onRoute', (route) => {
      route.bodyLimit = OPERATOR_BODY_LIMIT
    })
    for (const { adminRoutes: operator } of slices) operator?.(scope.withTypeProvider<TypeBoxTypeProvider>(), services)
  })
  return app
}

/** Answers hold what is a person's own: no cache on the way may keep them. */
const notStored: onRequestHookHandler = (_request, reply, done) => {
  reply.header('cache-control', 'no-store')
  done()
}

/** Everything under a prefix, unknown paths included, stands behind these checks. */
async function behind(
  app: FastifyInstance,
  prefix: string,
  checks: readonly onRequestHookHandler[],
  doors: (scope: FastifyInstance) => void,
): Promise<void> {
  await app.register(
    async (scope) => {
      scope.addHook('onRequest', notStored)
      for (const check of checks) scope.addHook('onRequest', check)
      scope.setNotFoundHandler(handleNotFound)
      doors(scope)
    },
    { prefix },
  )
}
