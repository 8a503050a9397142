import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import { pino } from 'pino'
import { openapiDocument } from '../../../scripts/openapi.ts'
import { build } from '../../../src/app.ts'
import type { Jobs } from '../../../src/audit/jobs/jobs.ts'
import { createFinanceSlice } from '../../../src/audit/routes/routes.ts'
import { createSignInCodes, type SignInCodes } from '../../../src/console/session/sign-in.ts'
import { headOf, readIncarnation } from '../../../src/db/head.ts'
import { openPool, readPool } from '../../../src/db/pool.ts'
import { queryBuilder } from '../../../src/db/queries/query-builder.ts'
import type { Tables } from '../../../src/db/tables.ts'
import { AppStatusGate } from '../../../src/features/app-status/app-status.ts'
import { ClientRegistry } from '../../../src/features/app-status/client-registry.ts'
import { readAppStatus } from '../../../src/features/app-status/reads.ts'
import { setApprovals } from '../../../src/features/proposals/approval-limits.ts'
import type { ApprovalLimits } from '../../../src/features/proposals/covered-verb.ts'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { WriteAllowance } from '../../../src/http/limits/write-allowance.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { AppliedEvents } from '../../../src/ledger/subscriptions/applied-events.ts'
import { slices } from '../../../src/slices.ts'
import { DocumentedResponses } from '../http/documented-responses.ts'
import { currentIncarnation } from '../ledger/given-when.ts'
import { createTestExecutor, type TestExecutor, testOpening } from '../ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../postgres/test-database.ts'
import type { Scope } from '../scope.ts'
import { appParts, consoleOptions, testSettings } from './app-parts.ts'

/** A response; `body` is its parsed JSON. */
export interface TestResponse {
  readonly status: number
  readonly text: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, unknown>>
}

export type SendRequest = (
  method: 'GET' | 'PUT' | 'POST' | 'DELETE',
  url: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<TestResponse>

interface TestAppOptions {
  /** Shared with another app, as one more instance; by default a new one. */
  readonly database?: TestDatabase | undefined
  readonly writes?: WriteAllowance | undefined
  readonly addressLimit?: AddressLimit
  readonly approvalLimits?: ApprovalLimits | null
  readonly rateLimit?: number | null
  readonly production?: boolean
  readonly trustProxy?: readonly string[]
  /** Whether pictures are those of the app itself; by default they are stored elsewhere. */
  readonly hasOwnPictures?: boolean
}

export interface TestApp {
  readonly database: TestDatabase
  readonly ledger: TestExecutor
  readonly app: FastifyInstance
  readonly appState: AppStatusGate
  readonly clients: ClientRegistry
  /** For tests in which the app listens: the address from which forms of the console are sent. */
  readonly setOrigin: (origin: string) => void
  /** Ended after the app, as in the service. */
  readonly jobs: Jobs
  readonly closingsFolder: string
  readonly sealsFolder: string
  /** For links that sign in to the console; null in production. */
  readonly signInCodes: SignInCodes | null
  /** Sends requests as the operator ann. Responses that the OpenAPI document does not describe are thrown. */
  readonly operator: SendRequest
  /** Sends requests as a member of staff. */
  readonly staff: (sub: string, role?: 'operator' | 'finance') => SendRequest
  /** Sends requests as a user, with a token issued some seconds ago. */
  readonly user: (id: number, secondsAgo?: number) => SendRequest
}

/** What all of the service's routes may answer; made once, as compiling it takes longer than most tests. */
let documented: Promise<DocumentedResponses> | undefined

/** A query builder for reads, as the routes use it. */
export function readDb(t: Scope, { serviceUrl }: Pick<TestDatabase, 'serviceUrl'>): Kysely<Tables> {
  const pool = openPool(serviceUrl, { max: 2, application_name: 'reads under test' }, pino({ level: 'silent' }))
  const db = queryBuilder(readPool(pool))
  t.teardown(() => db.destroy())
  return db
}

/** The whole HTTP layer with finance's routes and the console. It does not listen: requests are injected. */
export async function createTestApp(
  t: Scope,
  {
    database: shared,
    writes = new WriteAllowance(null),
    addressLimit = new AddressLimit(null),
    approvalLimits = null,
    rateLimit = null,
    production = false,
    trustProxy = [],
    hasOwnPictures = false,
  }: TestAppOptions = {},
): Promise<TestApp> {
  const database = shared ?? (await testDatabase())
  const log = pino({ level: 'silent' })
  const db = readDb(t, database)
  const clients = new ClientRegistry(
    openPool(database.serviceUrl, { max: 1, application_name: 'client registry under test' }, log),
    log,
  )
  t.teardown(() => clients.stop())
  const appState = new AppStatusGate(await readAppStatus(db), clients)
  const applied = new AppliedEvents(await headOf(db), () => headOf(db), currentIncarnation(await readIncarnation(db)))
  const ledger = createTestExecutor(t, database.serviceUrl, {}, (events) => {
    appState.applyAll(events)
    applied.apply(events)
  })
  if (approvalLimits !== null) {
    await ledger.runOk(genesis, testOpening)
    await ledger.runOk(setApprovals, { limits: approvalLimits })
  }
  let ownOrigin = 'http://127.0.0.1:3000'
  const source = { executor: ledger.executor, db, url: database.serviceUrl }
  const settings = {
    ...testSettings,
    get assetBaseUrl() {
      return hasOwnPictures ? `${ownOrigin}/assets` : 'http://assets.test'
    },
  }
  const own = { slices, writes, rateLimit, addressLimit, trustProxy, log }
  const parts = appParts(source, own, { applied, settings, appState })
  const signInCodes = createSignInCodes({ production, host: '127.0.0.1' })
  const isOwnOrigin = (origin: string): boolean => origin === ownOrigin
  const consoleParts = consoleOptions(t, source, parts, { production, isOwnOrigin, signInCodes })
  const app = await build({
    ...parts,
    slices: [...slices, createFinanceSlice(consoleParts.audit)],
    console: consoleParts,
  })
  await app.ready()
  t.teardown(() => app.close())

  const sendAs =
    (claims: Readonly<Record<string, unknown>>): SendRequest =>
    async (method, url, body, headers = {}) => {
      const token = app.jwt.sign(claims, { expiresIn: '1h' })
      const response = await app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      })
      const { statusCode: status, headers: received, body: text } = response
      const responseBody = response.json<unknown>()
      documented ??= openapiDocument().then((document) => new DocumentedResponses(document))
      const difference = (await documented).difference({ method, url, status, body: responseBody })
      if (difference !== null) throw new Error(`the document is wrong: ${difference}`)
      return { status, text, body: responseBody, headers: received }
    }
  return {
    database,
    ledger,
    app,
    appState,
    clients,
    setOrigin: (origin) => void (ownOrigin = origin),
    jobs: consoleParts.audit.jobs,
    closingsFolder: consoleParts.audit.closingsFolder,
    sealsFolder: consoleParts.audit.sealsFolder,
    signInCodes,
    operator: sendAs({ sub: 'ann', role: 'operator' }),
    staff: (sub, role = 'operator') => sendAs({ sub, role }),
    user: (id, secondsAgo = 0) => sendAs({ sub: String(id), iat: Math.floor(Date.now() / 1000) - secondsAgo }),
  }
}
