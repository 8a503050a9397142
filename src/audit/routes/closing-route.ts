import { CloseMonth, RecordedClosing } from '../../../schema/closings.ts'
import { dataOf } from '../../../schema/common.ts'
import { closingVerbs } from '../../features/closings/verbs.ts'
import type { App } from '../../features/services.ts'
import { readClosingRequest, requestWithoutFiles } from '../closings/closing-request.ts'
import { monthFolder } from '../closings/folder.ts'
import { readMonthBooks } from '../closings/month-books.ts'
import { MonthLock } from '../closings/month-lock.ts'
import type { ReportLimiter } from './report-limiter.ts'
import type { FinanceServices } from './services.ts'

/** Records the closing of a month, whose steps were run before. */
export function closingRoute(app: App, services: FinanceServices, limiter: ReportLimiter): void {
  const { db, reads, execute, checkpoints, closingsFolder } = services
  const verbs = closingVerbs()

  app.post(
    '/ledger/closings',
    {
      config: { mayFinanceWrite: true },
      schema: {
        operationId: 'recordClosing',
        summary: 'Record that a month is closed, with the SHA-256 of each file',
        description:
          'The steps of the closing are run in the console or by `audit close-month`. What is recorded is read from ' +
          'their files and from the ledger, never from the request. While a step of the month runs, on any instance, ' +
          'it is refused. Roles finance and operator.',
        tags: ['finance'],
        refusals: verbs.recordClosing.refusals,
        body: CloseMonth,
        response: { 201: dataOf(RecordedClosing) },
      },
    },
    async (request, reply) => {
      const { month } = request.body
      // The files are read to hash them: as much work as a report.
      await limiter.acquire(reply)
      const { url } = await reads.reportsFor({ readsStandby: false })
      const lock = await MonthLock.forRecording(url, month)
      try {
        const books = await readMonthBooks(db, month)
        const input =
          lock === null
            ? requestWithoutFiles(books, true)
            : await readClosingRequest(db, monthFolder(closingsFolder, month), books, checkpoints)
        return await execute(request, reply, verbs.recordClosing, input, { request: { month } })
      } finally {
        await lock?.close()
      }
    },
  )
}
