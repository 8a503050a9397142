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
import type { Slice } from '../../features/slice.ts'
import { actorOf } from '../../http/auth/caller.ts'
import { rowsThatFit } from '../../http/pages.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { readCheckpointHead } from '../checkpoint.ts'
import { toJson } from '../format.ts'
import { readEventsAfter } from '../reports/events.ts'
import { explainBalance } from '../reports/explain.ts'
import { readStatement, resolveStatementPeriod, serializeStatement } from '../reports/statement.ts'
import { closingRoutes } from './closing-routes.ts'
import { jobRoutes, verificationRoutes, verifyRoute } from './job-routes.ts'
import { ReportLimiter, streamReply } from './report-limiter.ts'
import { type AuditParts, type FinanceServices, orValidationFailed, parseAsOfParam, parseInteger } from './requests.ts'
import { trialBalanceRoute } from './trial-balance-route.ts'

const tags = ['finance']
const DEFAULT_LIMIT = 50
/** For all staff together, on each instance. */
const REPORT_LIMITS = { running: 2, waiting: 100, maxWaitMs: 10_000 }

const keepAlive = (): string => '\n'

/** Routes of finance, under /admin/v1/ledger, and its jobs. */
function financeRoutes(app: App, services: FinanceServices): void {
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

/** An event for finance. A single movement is in fields of the event, several are in `movements`. */
function presentEvent(entry: LedgerEntry): LedgerEventRecord {
  const movements = entry.movements.map(({ debit, credit, amount }) => ({
    debit,
    credit,
    currency: currencyOf(debit),
    amount,
  }))
  const [only] = movements
  const single = movements.length === 1 ? only : undefined
  return {
    position: entry.position,
    type: entry.type,
    version: entry.version,
    data: JSON.parse(entry.data),
    debit: single?.debit ?? null,
    credit: single?.credit ?? null,
    currency: single?.currency ?? null,
    amount: single?.amount ?? null,
    ...(movements.length > 1 && { movements }),
    actor: entry.actor,
    at: isoMicros(entry.at),
    request_id: entry.requestId,
    hash: entry.hash,
  }
}

/** Finance: reads the ledger, verifies it and closes its months; no value is moved. */
export const createFinanceSlice = (parts: AuditParts): Slice => ({
  documentedPrefix: '/api/v1',
  configure: () => ({
    adminRoutes: (app, { chooseReportDatabase, db, execute }) =>
      financeRoutes(app, { chooseReportDatabase, db, execute, ...parts }),
  }),
})
