import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import {
  AcknowledgeFinding,
  CloseMonth,
  ClosingFinding,
  ClosingParams,
  RecordedClosing,
} from '../../../schema/closings.ts'
import { dataOf } from '../../../schema/common.ts'
import { AcknowledgedFinding } from '../../../schema/events.ts'
import type { Tables } from '../../db/tables.ts'
import { isMonth } from '../../features/closings/closing.ts'
import { mayBeAcknowledged } from '../../features/closings/finding.ts'
import { closingVerbs } from '../../features/closings/verbs.ts'
import type { App } from '../../features/services.ts'
import { actorOf } from '../../http/auth/caller.ts'
import { InvalidPathParam } from '../../http/errors/http-error.ts'
import { readClosingRequest, requestWithoutFiles } from '../closings/closing-request.ts'
import { monthFolder } from '../closings/files.ts'
import { readMonthBooks } from '../closings/month-books.ts'
import { MonthLock } from '../closings/month-lock.ts'
import { readSteps } from '../closings/step-rows.ts'
import { isOwnFinding } from '../verify/acknowledged-findings.ts'
import type { ReportLimiter } from './report-limiter.ts'
import type { FinanceServices } from './requests.ts'

/** Records the closing of a month, whose steps were run before, and acknowledges what they found. */
export function closingRoutes(app: App, services: FinanceServices, limiter: ReportLimiter): void {
  const { url, db, execute, checkpoints, closingsFolder } = services

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
        refusals: closingVerbs.recordClosing.refusals,
        body: CloseMonth,
        response: { 201: dataOf(RecordedClosing) },
      },
    },
    async (request, reply) => {
      const { month } = request.body
      // The files are read to hash them: as much work as a report.
      await limiter.acquire(actorOf(request.caller), reply)
      const lock = await MonthLock.forRecording(url, month)
      try {
        const books = await readMonthBooks(db, month)
        const input =
          lock === null
            ? requestWithoutFiles(books, true)
            : await readClosingRequest(db, monthFolder(closingsFolder, month), books, checkpoints)
        return await execute(request, reply, closingVerbs.recordClosing, input, { request: { month } })
      } finally {
        await lock?.close()
      }
    },
  )

  app.get(
    '/ledger/closings/:month/findings',
    {
      schema: {
        operationId: 'listClosingFindings',
        summary: "What the steps of a month's closing found",
        description:
          'All that was acknowledged, and the first 50 others of each step. The closing can be recorded once all are ' +
          'acknowledged, and none is left that is not listed: then the step is run again.',
        tags: ['finance'],
        params: ClosingParams,
        response: { 200: dataOf(Type.Array(ClosingFinding)) },
      },
    },
    async ({ params: { month } }) => {
      if (!isMonth(month)) throw new InvalidPathParam()
      return { data: [...(await readClosingFindings(db, month))] }
    },
  )

  app.post(
    '/ledger/closings/:month/acknowledge',
    {
      schema: {
        operationId: 'acknowledgeFinding',
        summary: "Acknowledge what a step of a month's closing found, so that it stops no closing",
        description:
          'Its step passes from then on, in later months too, which list it with who acknowledged it and why. Role ' +
          'operator, but not for the actor, maker or approver of the event that it names (own_finding). A wrong ' +
          'hash of the chain cannot be acknowledged, nor a difference between a table and its replay.',
        tags: ['finance'],
        refusals: closingVerbs.acknowledgeFinding.refusals,
        params: ClosingParams,
        body: AcknowledgeFinding,
        response: { 200: dataOf(AcknowledgedFinding) },
      },
    },
    async (request, reply) => {
      const { month } = request.params
      if (!isMonth(month)) throw new InvalidPathParam()
      const { finding, reason } = request.body
      const known = (await readClosingFindings(db, month)).find((one) => one.finding === finding)
      const found = known && {
        step: known.step,
        kind: known.kind,
        subject: known.subject,
        is_own: await isOwnFinding(db, known.subject, actorOf(request.caller)),
      }
      const input = { month, finding, reason, found: found ?? null }
      return execute(request, reply, closingVerbs.acknowledgeFinding, input, { request: { finding, reason } })
    },
  )
}

/** What the steps of a month found. */
async function readClosingFindings(db: Kysely<Tables>, month: string): Promise<readonly ClosingFinding[]> {
  const steps = await readSteps(db, month)
  return steps.flatMap((step) =>
    step.state === 'waiting'
      ? []
      : step.findings.map((one) => ({
          ...one,
          step: step.step,
          may_be_acknowledged: mayBeAcknowledged(step.step, one.kind),
        })),
  )
}
