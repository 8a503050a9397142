import { setTimeout as sleep } from 'node:timers/promises'
import { VerifyQuery } from '../../../schema/finance.ts'
import { headOf } from '../../db/head.ts'
import type { App } from '../../features/services.ts'
import { actorOf } from '../../http/auth/caller.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import { JobStopped } from '../jobs/jobs.ts'
import { verifyInWorker } from '../jobs/verifications.ts'
import { auditMessages } from '../messages.ts'
import { parseInteger } from './query-parsing.ts'
import { ReportLimiter, streamReply } from './report-limiter.ts'
import type { FinanceServices } from './services.ts'

const PROGRESS_INTERVAL_MS = 1_000

export function verifyRoute(app: App, { chooseReportDatabase, piiKey, jobs }: FinanceServices): void {
  const limiter = new ReportLimiter(app, { running: 1, waiting: 0, maxWaitMs: 0 })

  app.get(
    '/ledger/verify',
    {
      schema: {
        operationId: 'verifyLedger',
        summary: 'Replay the ledger and compare it with itself and with every table',
        description:
          'One JSON document per line: { "progress": { events, of } } about every second, at the end { "result": { ' +
          'position, events, findings } }. The books are sound when there is a result and it has no findings; there is ' +
          'none when somebody stops the job. One verification runs at a time; it ends when the client disconnects.',
        tags: ['finance'],
        querystring: VerifyQuery,
        response: {
          200: {
            description: 'Lines of JSON: the progress and, at the end, what was found',
            content: { 'application/x-ndjson': { schema: { type: 'string' } } },
          },
        },
      },
    },
    async (request, reply) => {
      const { query } = request
      const asOf = query.as_of === undefined ? null : parseInteger('as_of', query.as_of)
      const { db, url } = await chooseReportDatabase()
      const head = await headOf(db)
      if (asOf !== null && asOf > head) throw validationFailed({ as_of: [auditMessages.ledger_end(head)] })
      const startedBy = actorOf(request.caller)
      const { signal } = await limiter.acquire(startedBy, reply)
      const subject = asOf === null ? '' : String(asOf)
      const running = await jobs.start(
        { kind: 'streamed-verification', subject, startedBy, of: asOf ?? head },
        verifyInWorker(url, { asOf, checkpoint: null, piiKey }),
        { signal },
      )
      const line = (): string => `${JSON.stringify({ progress: running.progress() })}\n`
      const chunks = async function* (): AsyncGenerator<string, void> {
        const ended = running.ended.catch((error: unknown) => {
          if (error instanceof JobStopped) return undefined
          throw error
        })
        for (;;) {
          const result = await Promise.race([ended, sleep(PROGRESS_INTERVAL_MS, null, { ref: false })])
          if (result === undefined) return yield line()
          if (result !== null) return yield `${JSON.stringify({ result })}\n`
          yield line()
        }
      }
      return streamReply(reply, 'application/x-ndjson', chunks(), line)
    },
  )
}
