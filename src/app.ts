import { randomUUID } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  fastify,
  type onRequestAsyncHookHandler,
  type onRequestHookHandler,
} from 'fastify'
import type { JwtKey } from './config/credentials.ts'
import { consoleRoutes } from './console/console.ts'
import type { ConsoleOptions } from './console/console-services.ts'
import { demoPictures } from './demo/catalogue.ts'
import { playersPageRoutes } from './fairness-page/routes.ts'
import type { Services } from './features/services.ts'
import type { Slice } from './features/slice.ts'
import { assetRoutes } from './http/assets.ts'
import {
  decorateCaller,
  hasValidToken,
  publicLimit,
  staffCheck,
  unauthenticatedLimit,
  userCheck,
} from './http/auth/auth.ts'
import { gateCheck } from './http/auth/gate.ts'
import type { Sessions } from './http/auth/sessions.ts'
import {
  registerTokens,
  signatureCheck,
  type TokenRules,
  userTokenSigner,
  type VerifyToken,
} from './http/auth/tokens.ts'
import { docsRoutes, homeRoutes } from './http/documents/docs-routes.ts'
import { describeRoutes, hideRoutes } from './http/documents/openapi.ts'
import { handleErrors, handleNotFound, refuseAll } from './http/errors/error-handlers.ts'
import type { RefusalResponseOf } from './http/errors/refusals.ts'
import type { AddressLimit } from './http/limits/address-limit.ts'
import { limitPipelining } from './http/limits/concurrency.ts'
import { decorateRateLimit, rateLimitCheck } from './http/limits/rate-limit.ts'
import { type WriteAllowance, writeCheck } from './http/limits/write-allowance.ts'
import { RequestLog } from './http/observability/logging.ts'
import type { Metrics } from './http/observability/metrics.ts'
import { serviceRoutes } from './http/observability/service-routes.ts'
import { allowOrigins } from './http/origins.ts'
import { clientPrefixes, handleUnroutable, isSocketUpgrade, routedUrl } from './http/paths.ts'
import { positionHook, standbyHook } from './http/positions.ts'
import { handleMalformedRequests, serverOptions } from './http/server-options.ts'
import { MAX_CLIENT_BODY_BYTES, MAX_OPERATOR_BODY_BYTES, parseBodies } from './http/validation/body.ts'
import { parseQuery } from './http/validation/request-parts.ts'
import { schemaError } from './http/validation/validation.ts'
import { compileValidator } from './http/validation/validators.ts'
import type { ConnectionRegistry } from './realtime/sockets/connection-registry.ts'
import { registerSocketRoutes } from './realtime/sockets/socket-routes.ts'

export interface AppParts {
  readonly slices: readonly Slice[]
  readonly services: Services
  readonly sessions: Sessions
  readonly jwt: JwtKey
  readonly tokenRules: TokenRules
  /** Requests a minute for each caller; null is no limit. */
  readonly rateLimit: number | null
  /** For requests without a valid token. */
  readonly addressLimit: AddressLimit
  /** Addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy: readonly string[]
  /** How many bytes users may store by requests that cost them nothing. */
  readonly writes: WriteAllowance
  readonly log: FastifyBaseLogger & { isLevelEnabled(level: string): boolean }
  readonly metrics: Metrics
  /** The bearer token of /metrics; null: open to everyone. */
  readonly metricsToken: string | null
  readonly isReady: () => Promise<boolean>
  /** Where the database is a standby: waits until it has a position; false when that takes too long. */
  readonly awaitPosition?: ((position: number) => Promise<boolean>) | undefined
  /** Whether nothing may be answered any more. */
  readonly isVoid?: () => boolean
  /** A folder with pictures and videos to serve besides those of the demo catalogue; null: only those. */
  readonly assetDir: string | null
  /** Origins whose pages may call client routes. */
  readonly allowedOrigins: readonly string[]
  /** Whether /docs is answered. */
  readonly docs: boolean
  /** The service's address for clients, without a slash at its end. */
  readonly publicUrl: () => string
  /** The status of each refusal, for the documents. */
  readonly refusalResponseOf: RefusalResponseOf
  /** Staff's pages; without it there is no console. */
  readonly console?: ConsoleOptions
  /** The registry of sockets, and the origins that may open them; without it there are no websockets. */
  readonly realtime?: {
    readonly createRegistry: (verifyToken: VerifyToken) => ConnectionRegistry
    readonly isAllowedOrigin: (origin: string) => boolean
  }
}

/** The service's HTTP side, not listening yet. */
export async function build(parts: AppParts): Promise<FastifyInstance> {
  const { services } = parts
  const slices = parts.slices.map(({ documentedPrefix, configure }) => ({
    documentedPrefix,
    ...configure?.(services.settings),
  }))
  const log: FastifyBaseLogger = parts.log
  const requestLog = new RequestLog(parts.log.isLevelEnabled('debug'))
  const app = fastify({
    loggerInstance: log,
    logController: requestLog,
    // No logger per request: creating one costs more than most requests log. Lines carry the request's id instead.
    childLoggerFactory: (logger) => logger,
    trustProxy: parts.trustProxy.length === 0 ? false : [...parts.trustProxy],
    genReqId: () => randomUUID(),
    routerOptions: { ignoreTrailingSlash: true, querystringParser: parseQuery, maxParamLength: 4096 },
    bodyLimit: MAX_CLIENT_BODY_BYTES,
    ...serverOptions,
    http: {
      ...serverOptions.http,
      shouldUpgradeCallback: parts.realtime === undefined ? () => false : isSocketUpgrade,
    },
    schemaErrorFormatter: schemaError,
    rewriteUrl: routedUrl,
    frameworkErrors: handleUnroutable,
    // Requests during shutdown are still answered; clients would take a 503 for maintenance.
    return503OnClosing: false,
  })
  app.setValidatorCompiler(compileValidator)
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    done()
  })
  parts.metrics.watchRequests(app)
  if (parts.isVoid !== undefined) refuseAll(app, parts.isVoid, parts.allowedOrigins)
  parts.metrics.eventLoopLag.watch(app, log)
  handleMalformedRequests(app)
  limitPipelining(app)
  parseBodies(app)
  handleErrors(app, requestLog, parts.metrics)
  decorateCaller(app)
  decorateRateLimit(app)
  await describeRoutes(app, (code) => parts.refusalResponseOf({ refusal: code }).status)
  const verifyToken = await registerTokens(app, parts.jwt, parts.tokenRules)
  const isSignatureValid = signatureCheck(verifyToken)
  const limitUnauthenticated = unauthenticatedLimit(parts.addressLimit, parts.metrics)
  serviceRoutes(app, parts.metrics, parts.isReady, { token: parts.metricsToken, limitUnauthenticated })
  const mayRemember = (request: FastifyRequest): boolean =>
    hasValidToken(request, verifyToken) || parts.addressLimit.take(request.ip)
  const limitPublic = publicLimit(verifyToken, limitUnauthenticated)
  if (parts.docs) docsRoutes(app, limitPublic, parts.publicUrl)
  homeRoutes(app, limitPublic)
  playersPageRoutes(app, services, limitPublic)
  const assetFolders = parts.assetDir === null ? [demoPictures] : [parts.assetDir, demoPictures]
  assetRoutes(app, assetFolders, limitPublic)
  const { rateLimit } = parts
  const limitRequests = () => (rateLimit === null ? [] : [rateLimitCheck(app, rateLimit, parts.metrics)])
  const limit = limitRequests()
  // The order of checks. A route's schema and then the business rules follow.
  const tokenChecks = [userCheck(verifyToken, parts.sessions, limitUnauthenticated), ...limit]
  const gate = gateCheck(services.appState.gate, isSignatureValid)
  const addPosition = positionHook(services.applied)
  const clientChecks = [
    gate,
    ...tokenChecks,
    writeCheck(parts.writes, parts.metrics),
    ...(parts.awaitPosition === undefined ? [] : [standbyHook(services.applied, parts.awaitPosition)]),
  ]
  const chargePublic: onRequestHookHandler = (request, _reply, done) => done(limitPublic(request))
  const publicChecks = [preventCaching, gate, chargePublic]
  const staffChecks = [staffCheck(verifyToken, services.staffSessions, limitUnauthenticated), ...limit]

  const registry = parts.realtime?.createRegistry(verifyToken) ?? null
  if (parts.realtime !== undefined && registry !== null) {
    const { isAllowedOrigin } = parts.realtime
    const { hintsOf } = services.appState
    const { addressLimit, metrics } = parts
    await registerSocketRoutes(app, {
      registry,
      isAllowedOrigin,
      clientHintsOf: hintsOf,
      beforeToken: [preventCaching, gate],
      tokenChecks,
      addressLimit,
      metrics,
    })
  }
  for (const prefix of clientPrefixes) {
    const beforeChecks = (scope: FastifyInstance): void => {
      scope.addHook('onRequest', addPosition)
      allowOrigins(scope, parts.allowedOrigins)
    }
    await guardedScope(app, prefix, { beforeChecks, checks: clientChecks }, (scope) => {
      for (const { documentedPrefix, routes } of slices) {
        if (routes === undefined) continue
        void scope.register(async (routeScope) => {
          if (prefix !== documentedPrefix) hideRoutes(routeScope)
          routes(routeScope.withTypeProvider<TypeBoxTypeProvider>(), services)
        })
      }
    })
    for (const { documentedPrefix, publicRoutes, openRoutes } of slices) {
      const addScope = (addRoutes: (scope: FastifyInstance) => void) =>
        app.register(
          async (scope) => {
            if (prefix !== documentedPrefix) hideRoutes(scope)
            beforeChecks(scope)
            addRoutes(scope)
          },
          { prefix },
        )
      if (publicRoutes !== undefined)
        await addScope((scope) => {
          for (const check of publicChecks) scope.addHook('onRequest', check)
          publicRoutes(scope.withTypeProvider<TypeBoxTypeProvider>(), services)
        })
      if (openRoutes !== undefined)
        await addScope((scope) =>
          openRoutes(scope.withTypeProvider<TypeBoxTypeProvider>(), services, { isSignatureValid, mayRemember }),
        )
    }
  }
  await guardedScope(app, '/admin/v1', { checks: staffChecks }, (scope) => {
    scope.addHook('onRoute', (route) => {
      route.bodyLimit = MAX_OPERATOR_BODY_BYTES
    })
    for (const { adminRoutes } of slices) adminRoutes?.(scope.withTypeProvider<TypeBoxTypeProvider>(), services)
  })
  if (parts.console !== undefined) {
    await consoleRoutes(app, {
      options: parts.console,
      services,
      neighbours: {
        sockets: registry,
        signUserToken: parts.console.production ? null : userTokenSigner(app, parts.jwt, parts.tokenRules),
      },
      verifyToken,
      limitUnauthenticated,
      // A limiter of its own: pages send requests to /admin/v1, which would wait for the turn that their page has.
      afterSession: limitRequests(),
      logFailure: (error, request, status) => requestLog.failed(error, request, status),
    })
  }
  return app
}

/** Responses contain personal data: no cache may store them. */
const preventCaching: onRequestHookHandler = (_request, reply, done) => {
  reply.header('cache-control', 'no-store')
  done()
}

interface Guards {
  readonly beforeChecks?: (scope: FastifyInstance) => void
  readonly checks: readonly (onRequestHookHandler | onRequestAsyncHookHandler)[]
}

/** Runs these checks before everything under a prefix, unknown paths included. */
async function guardedScope(
  app: FastifyInstance,
  prefix: string,
  { beforeChecks, checks }: Guards,
  addRoutes: (scope: FastifyInstance) => void,
): Promise<void> {
  await app.register(
    async (scope) => {
      scope.addHook('onRequest', preventCaching)
      beforeChecks?.(scope)
      for (const check of checks) scope.addHook('onRequest', check)
      scope.setNotFoundHandler(handleNotFound)
      addRoutes(scope)
    },
    { prefix },
  )
}
