import { hkdfSync } from 'node:crypto'
import cookie from '@fastify/cookie'
import csrf from '@fastify/csrf-protection'
import formbody from '@fastify/formbody'
import helmet from '@fastify/helmet'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import view from '@fastify/view'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { ReportLimiter } from '../audit/routes/report-limiter.ts'
import { errorCode } from '../config/error-code.ts'
import type { App, Services } from '../features/services.ts'
import type { LimitUnauthenticated } from '../http/auth/auth.ts'
import type { VerifyToken } from '../http/auth/tokens.ts'
import { notFound, problemOf } from '../http/errors/http-error.ts'
import { MAX_CLIENT_BODY_BYTES } from '../http/validation/body.ts'
import { accountPages } from './accounts/accounts.ts'
import { assetPages } from './assets/assets.ts'
import { cataloguePages } from './catalogue/catalogue.ts'
import {
  adminRequests,
  type ConsoleNeighbours,
  type ConsoleOptions,
  type ConsolePages,
  type ConsoleServices,
} from './console-services.ts'
import { drawPages } from './draws/draws.ts'
import { gamePages } from './draws/games.ts'
import { eventPages } from './events/events.ts'
import { decorateDone } from './layout/done.ts'
import { sendErrorPage } from './layout/error-page.ts'
import { templates } from './layout/templates.ts'
import { homePages } from './overview/home.ts'
import { livePages } from './overview/live.ts'
import { searchPages } from './overview/search.ts'
import { jobPages } from './reports/jobs.ts'
import { reportPages } from './reports/reports.ts'
import { verifyPages } from './reports/verify.ts'
import {
  decorateStaff,
  foreignFormError,
  outdatedForm,
  sessionCheck,
  staffOrNull,
  staffSessionFinder,
} from './session/session-check.ts'
import { endedSessionsIn } from './session/session-cookie.ts'
import { signInPages } from './session/sign-in.ts'
import { proposalPages } from './staff/proposals.ts'
import { staffPages } from './staff/staff.ts'
import { userPages } from './users/users.ts'
import { withdrawalPages } from './withdrawals/withdrawals.ts'

/** All pages, in the order of the menu. */
const pages: readonly ConsolePages[] = [
  homePages,
  livePages,
  accountPages,
  eventPages,
  reportPages,
  verifyPages,
  jobPages,
  userPages,
  withdrawalPages,
  proposalPages,
  gamePages,
  drawPages,
  cataloguePages,
  staffPages,
  searchPages,
]

interface ConsoleParts {
  readonly options: ConsoleOptions
  readonly services: Services
  readonly neighbours: ConsoleNeighbours
  readonly verifyToken: VerifyToken
  readonly limitUnauthenticated: LimitUnauthenticated
  /** What runs after the check of the session, such as the limit of requests of a caller. */
  readonly afterSession: readonly onRequestHookHandler[]
  /** Logs a request that failed through no fault of its sender. */
  readonly logFailure: (error: unknown, request: FastifyRequest, status: number) => void
}

/** A key for one purpose, made of the key that all instances share. */
const consoleKey = (secret: string, purpose: 'cookies' | 'forms'): string =>
  Buffer.from(hkdfSync('sha256', secret, '', `console ${purpose}`, 32)).toString('base64url')

/** Exports that run at a time on an instance; the others wait for their turn. */
const EXPORT_LIMITS = { running: 2, waiting: 100, maxWaitMs: 10_000 }

/** Staff's pages under /console: read by the functions that /admin/v1 reads by, and acting by its routes. */
export async function consoleRoutes(app: FastifyInstance, parts: ConsoleParts): Promise<void> {
  const { options, verifyToken, limitUnauthenticated } = parts
  const { cookieKey, production, signInCodes, isOwnOrigin } = options
  await app.register(
    async (scope: FastifyInstance) => {
      await scope.register(helmet, {
        contentSecurityPolicy: {
          useDefaults: false,
          directives: {
            defaultSrc: ["'none'"],
            scriptSrc: ["'self'"],
            styleSrc: ["'self'"],
            fontSrc: ["'self'"],
            connectSrc: ["'self'"],
            formAction: ["'self'"],
            imgSrc: ["'self'", 'data:'],
            baseUri: ["'none'"],
            frameAncestors: ["'none'"],
          },
        },
        referrerPolicy: { policy: 'same-origin' },
        frameguard: { action: 'deny' },
        // The proxy that speaks TLS sends it.
        hsts: false,
      })
      await scope.register(cookie, { secret: consoleKey(cookieKey, 'cookies') })
      await scope.register(csrf, {
        cookieKey: 'console-form',
        cookieOpts: {
          path: '/console',
          httpOnly: true,
          sameSite: 'lax',
          secure: production ? true : 'auto',
          signed: true,
        },
        csrfOpts: { hmacKey: consoleKey(cookieKey, 'forms'), userInfo: true },
        getUserInfo: (request) => staffOrNull(request)?.token ?? 'nobody',
      })
      await scope.register(formbody, { bodyLimit: MAX_CLIENT_BODY_BYTES })
      await scope.register(view, {
        engine: { eta: templates },
        templates: templates.config.views ?? '',
        production: true,
      })
      scope.addHook('onRoute', (route) => {
        route.schema = { ...route.schema, hide: true }
        if (route.method === 'POST') route.config = { ...route.config, takesForms: true }
      })
      decorateStaff(scope)
      decorateDone(scope, { production })
      scope.addHook('onRequest', (request, reply, done) => {
        if (!request.routeOptions.url?.startsWith('/console/assets/')) reply.header('cache-control', 'no-store')
        const isRead = request.method === 'GET' || request.method === 'HEAD'
        done(isRead ? undefined : foreignFormError(request, isOwnOrigin))
      })
      const findSession = staffSessionFinder(verifyToken, parts.services.staffSessions)
      const endedSessions = endedSessionsIn(parts.services.db)
      scope.addHook(
        'onRequest',
        sessionCheck({
          findSession,
          endedSessions,
          production,
          isOwnOrigin,
          limitUnauthenticated,
        }),
      )
      for (const check of parts.afterSession) {
        scope.addHook('onRequest', function (request, reply, done) {
          if (staffOrNull(request) === null) done()
          else check.call(this, request, reply, done)
        })
      }
      scope.addHook('preValidation', (request, reply, done) => {
        if (request.method === 'GET' || request.method === 'HEAD' || request.is404) return done()
        scope.csrfProtection(request, reply, done)
      })
      scope.setErrorHandler((error, request, reply) => {
        const isOutdated = errorCode(error)?.startsWith('FST_CSRF_') === true
        const problem = isOutdated ? outdatedForm() : problemOf(error)
        if (problem.status >= 500) parts.logFailure(error, request, problem.status)
        return sendErrorPage(request, reply, problem)
      })
      scope.setNotFoundHandler((request, reply) => sendErrorPage(request, reply, notFound()))
      const typed: App = scope.withTypeProvider<TypeBoxTypeProvider>()
      const services: ConsoleServices = {
        ...parts.services,
        ...parts.neighbours,
        ...options,
        adminRequest: adminRequests(app),
        exportLimiter: new ReportLimiter(scope, EXPORT_LIMITS),
      }
      assetPages(typed)
      signInPages(typed, {
        findSession,
        endedSessions,
        production,
        signInCodes,
        limitUnauthenticated,
      })
      for (const addPages of pages) addPages(typed, services)
    },
    { prefix: '/console' },
  )
}
