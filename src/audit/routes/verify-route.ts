import { setTimeout as sleep } from 'node:timers/promises'
import { VerifyQuery } from '../../../schema/finance.ts'
import { headOf } from '../../db/head.ts'
import type { App } from '../../features/services.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import type { Progress } from '../ledger-scan.ts'
import { askedNumber } from './query-parsing.ts'
import { Readings, sendPieces } from './report-limiter.ts'
import type { FinanceServices } from './routes.ts'

/** Between two lines of progress. */
const PROGRESS_MS = 1_000

export function verifyRoute(app: App, { db, aside }: FinanceServices): void {
  const readings = new Readings(app, { running: 1, waiting: 0, maxWaitMs: 0 })

  app.get(
    '/ledger/verify',
    {
      schema: {
        operationId: 'verifyLedger',
        summary: 'Replay the ledger and compare it with itself and with every table',
        description:
          'A JSON document a line: { "progress": { events, of } } about every second, at the end { "result": { ' +
          'position, events, findings } }. The books are sound when there is a result and it has no findings. One ' +
          'verification at a time; it ends when the client goes.',
        tags: ['finance'],
        querystring: VerifyQuery,
        response: { 200: { content: { 'application/x-ndjson': { schema: { type: 'string' } } } } },
      },
    },
    async ({ query }, reply) => {
      const asOf = query.as_of === undefined ? null : askedNumber('as_of', query.as_of)
      const head = await headOf(db)
      if (asOf !== null && asOf > head) throw validationFailed({ as_of: [`the ledger ends at position ${head}`] })
      const { signal } = await readings.begin(reply)
      let progress: Progress = { events: 0, of: asOf ?? head }
      const line = (): string => `${JSON.stringify({ progress })}\n`
      const pieces = async function* (): AsyncGenerator<string, void> {
        const verified = aside.verify(asOf, signal, (latest) => void (progress = latest))
        verified.catch(() => {})
        for (;;) {
          const result = await Promise.race([verified, sleep(PROGRESS_MS, null, { ref: false })])
          if (result !== null) return yield `${JSON.stringify({ result })}\n`
          yield line()
        }
      }
      return sendPieces(reply, 'application/x-ndjson', pieces(), line)
    },
  )
}
