import { Type } from '@sinclair/typebox'
import { dataOf } from '../../../schema/common.ts'
import {
  AccountStatement,
  Checkpoint,
  EventsQuery,
  ExplainedBalance,
  ExplainQuery,
  LedgerEventRecord,
  StatementQuery,
} from '../../../schema/finance.ts'
import type { App } from '../../features/services.ts'
import { actorOf } from '../../http/auth/caller.ts'
import { rowsThatFit } from '../../http/pages.ts'
import { readCheckpointHead } from '../checkpoint/read-checkpoint-head.ts'
import { toJson } from '../format.ts'
import { readEventsAfter } from '../reports/events.ts'
import { explainBalance } from '../reports/explain.ts'
import { readStatement, resolveStatementPeriod, serializeStatement } from '../reports/statement.ts'
import { closingRoutes } from './closing-routes.ts'
import { jobRoutes } from './job-routes.ts'
import { presentEvent } from './presenters.ts'
import { orValidationFailed, parseAsOfParam, parseInteger } from './query-parsing.ts'
import { ReportLimiter, streamReply } from './report-limiter.ts'
import type { FinanceServices } from './services.ts'
import { trialBalanceRoute } from './trial-balance-route.ts'
import { verificationRoutes } from './verification-routes.ts'
import { verifyRoute } from './verify-route.ts'

const tags = ['finance']
const DEFAULT_LIMIT = 50
/** For all staff together, on each instance. */
const REPORT_LIMITS = { running: 2, waiting: 100, maxWaitMs: 10_000 }

const keepAlive = (): string => '\n'

/** Routes of finance, under /admin/v1/ledger, and its jobs. */
export function financeRoutes(app: App, services: FinanceServices): void {
  const { chooseReportDatabase, checkpoints } = services
  const limiter = new ReportLimiter(app, REPORT_LIMITS)
  trialBalanceRoute(app, services, limiter)
  verifyRoute(app, services)
  verificationRoutes(app, services)
  closingRoutes(app, services, limiter)
  jobRoutes(app, services)

  app.get(
    '/ledger/events',
    {
      schema: {
        operationId: 'listLedgerEvents',
        summary: 'Events of the ledger in order, after a position',
        description:
          'With a type or a user, the search goes up to the end of the ledger. A page of large events may be shorter than its limit; only an empty page is the end.',
        tags,
        querystring: EventsQuery,
        response: { 200: dataOf(Type.Array(LedgerEventRecord)) },
      },
    },
    async (request, reply) => {
      const { query } = request
      const filter = {
        after: parseInteger('after', query.after ?? '0'),
        limit: Number(query.limit ?? DEFAULT_LIMIT),
        type: query.type ?? null,
        user: query.user === undefined ? null : parseInteger('user', query.user),
      }
      const isSearch = filter.type !== null || filter.user !== null
      const { db } = await chooseReportDatabase()
      const { signal } = isSearch ? await limiter.acquire(actorOf(request.caller), reply) : new AbortController()
      return { data: [...rowsThatFit((await readEventsAfter(db, filter, signal)).map(presentEvent))] }
    },
  )

  app.get(
    '/ledger/statement',
    {
      schema: {
        operationId: 'showStatement',
        summary: "An account's opening balance, movements and closing balance",
        description: 'Without from: from the beginning; without to: until now. Both are included.',
        tags,
        querystring: StatementQuery,
        response: { 200: dataOf(AccountStatement) },
      },
    },
    async (request, reply) => {
      const { query } = request
      const { account } = query
      const bounds = { from: parseAsOfParam('from', query.from), to: parseAsOfParam('to', query.to) }
      const { db } = await chooseReportDatabase()
      const period = await orValidationFailed(resolveStatementPeriod(db, bounds))
      const context = await limiter.acquire(actorOf(request.caller), reply)
      const chunks = async function* (): AsyncGenerator<string, void> {
        const statement = await readStatement(db, account, period, context)
        yield '{"data":'
        yield* serializeStatement(statement)
        yield '}'
      }
      return streamReply(reply, 'application/json', chunks(), keepAlive)
    },
  )

  app.get(
    '/ledger/explain',
    {
      schema: {
        operationId: 'explainBalance',
        summary: 'Why a user can spend what they can: the balance, where it came from, less each hold',
        description: 'Each part names the positions that it comes from.',
        tags,
        querystring: ExplainQuery,
        response: { 200: dataOf(ExplainedBalance) },
      },
    },
    async (request, reply) => {
      const { query } = request
      const user = parseInteger('user', query.user)
      const { db } = await chooseReportDatabase()
      const context = await limiter.acquire(actorOf(request.caller), reply)
      const chunks = async function* (): AsyncGenerator<string, void> {
        yield toJson({ data: await orValidationFailed(explainBalance(db, user, query.currency, context)) })
      }
      return streamReply(reply, 'application/json', chunks(), keepAlive)
    },
  )

  app.get(
    '/ledger/checkpoint',
    {
      schema: {
        operationId: 'takeCheckpoint',
        summary: 'A signed statement of where the ledger ends, to be kept elsewhere',
        description: 'It is the same until the next event. POST makes one and records that it was made.',
        tags,
        response: { 200: dataOf(Checkpoint) },
      },
    },
    async () => {
      const { db } = await chooseReportDatabase()
      return { data: checkpoints.sign(await readCheckpointHead(db)) }
    },
  )
}
