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
import type { App, Services } from '../../features/services.ts'
import { rowsThatFit } from '../../http/pages.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import { jsonText } from '../commands/printing.ts'
import { eventsAfter } from '../reports/events.ts'
import { explain } from '../reports/explain.ts'
import { statementJson, statementOf, statementPeriod } from '../reports/statement.ts'
import type { Aside } from '../verify/audit-worker.ts'
import { publishedEvent } from './presenters.ts'
import { answerable, askedMoment, askedNumber } from './query-parsing.ts'
import { endOfLedger } from './reads.ts'
import { Readings, sendPieces } from './report-limiter.ts'
import { trialBalanceRoute } from './trial-balance-route.ts'
import { verifyRoute } from './verify-route.ts'

const tags = ['finance']
const DEFAULT_LIMIT = 50
/** Readings that look at many events, of all staff together on an instance. */
const LIMITS = { running: 2, waiting: 100, maxWaitMs: 10_000 }

const nothing = (): string => '\n'

/** What these routes need. */
export interface FinanceServices extends Pick<Services, 'db'> {
  /** For reads of the whole ledger. */
  readonly aside: Aside
  readonly checkpoints: CheckpointSigner
}

/** The doors of those who read the books, under /admin/v1/ledger. */
export function financeRoutes(app: App, services: FinanceServices): void {
  const { db, checkpoints } = services
  const readings = new Readings(app, LIMITS)
  trialBalanceRoute(app, services, readings)
  verifyRoute(app, services)

  app.get(
    '/ledger/events',
    {
      schema: {
        operationId: 'listLedgerEvents',
        summary: 'Events of the ledger in order, after a position',
        description:
          'Those of a type or a user are looked for up to the end of the ledger. A page of large events ends early: only an empty one is the end.',
        tags,
        querystring: EventsQuery,
        response: { 200: dataOf(Type.Array(LedgerEventRecord)) },
      },
    },
    async ({ query }, reply) => {
      const asked = {
        after: askedNumber('after', query.after ?? '0'),
        limit: Number(query.limit ?? DEFAULT_LIMIT),
        type: query.type ?? null,
        user: query.user === undefined ? null : askedNumber('user', query.user),
      }
      const some = asked.type !== null || asked.user !== null
      const { signal } = some ? await readings.begin(reply) : new AbortController()
      return { data: [...rowsThatFit((await eventsAfter(db, asked, signal)).map(publishedEvent))] }
    },
  )

  app.get(
    '/ledger/statement',
    {
      schema: {
        operationId: 'showStatement',
        summary: "An account's opening balance, movements and closing balance",
        description: 'Without from: since the beginning; without to: until now. Both are included.',
        tags,
        querystring: StatementQuery,
        response: { 200: dataOf(AccountStatement) },
      },
    },
    async ({ query }, reply) => {
      const { account } = query
      const asked = { from: askedMoment('from', query.from), to: askedMoment('to', query.to) }
      const period = await answerable(statementPeriod(db, account, asked))
      const reading = await readings.begin(reply)
      const pieces = async function* (): AsyncGenerator<string, void> {
        const statement = await statementOf(db, account, period, reading)
        yield '{"data":'
        yield* statementJson(statement)
        yield '}'
      }
      return sendPieces(reply, 'application/json', pieces(), nothing)
    },
  )

  app.get(
    '/ledger/explain',
    {
      schema: {
        operationId: 'explainBalance',
        summary: 'Why a user can spend what they can: the balance, where it came from, less each hold',
        tags,
        querystring: ExplainQuery,
        response: { 200: dataOf(ExplainedBalance) },
      },
    },
    async ({ query }, reply) => {
      const user = askedNumber('user', query.user)
      const reading = await readings.begin(reply)
      const pieces = async function* (): AsyncGenerator<string, void> {
        yield jsonText({ data: await explain(db, user, query.currency, reading) })
      }
      return sendPieces(reply, 'application/json', pieces(), nothing)
    },
  )

  app.get(
    '/ledger/checkpoint',
    {
      schema: {
        operationId: 'takeCheckpoint',
        summary: 'A signed statement of where the ledger ends, to keep elsewhere',
        tags,
        response: { 200: dataOf(Checkpoint) },
      },
    },
    async () => ({ data: checkpoints.sign(await endOfLedger(db)) }),
  )
}
