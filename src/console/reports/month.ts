import { createReadStream } from 'node:fs'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { findClosingFile, monthFolder } from '../../audit/closings/files.ts'
import { ClosingRefused, readMonthBooks } from '../../audit/closings/month-books.ts'
import { readStep, readSteps } from '../../audit/closings/step-rows.ts'
import { findStepsJob, startSteps } from '../../audit/closings/steps-job.ts'
import { newestVerification } from '../../audit/verify/verifications.ts'
import { refusalResponseOf } from '../../domain.ts'
import { type ClosingStep, closingSteps, MONTH_PATTERN, VERIFICATION_RUNNING } from '../../features/closings/closing.ts'
import { earlierAcknowledgements } from '../../features/closings/reads.ts'
import type { App } from '../../features/services.ts'
import { HttpError, notFound } from '../../http/errors/http-error.ts'
import type { ConsoleServices } from '../console-services.ts'
import { actionFields, addAction, addReviewedAction } from '../layout/action.ts'
import { leadToDone } from '../layout/done.ts'
import { sendSections } from '../layout/page.ts'
import { sendPart } from '../layout/send-page.ts'
import { defineTemplate } from '../layout/templates.ts'
import { actorIn } from '../session/session-check.ts'
import {
  acknowledgedSection,
  factsOf,
  filesOf,
  isNextToClose,
  noticeOf,
  type ReadMonth,
  recordedFiles,
  recordedSections,
  recordPage,
  showMonth,
  stepSections,
} from './month-page.ts'
import { monthPath } from './months.ts'
import { isDone, isHere, type StepProgress, showProgress } from './step-view.ts'

interface ProgressData {
  /** Null when the step does not run any more. */
  readonly progress: StepProgress | null
}

const progressTemplate = defineTemplate<ProgressData>('/reports/progress.eta')

const monthParam = { month: Type.String({ pattern: MONTH_PATTERN }) }
const MonthParams = Type.Object(monthParam)
const StepParams = Type.Object({ ...monthParam, step: Type.Union(closingSteps.map((step) => Type.Literal(step))) })
const FileParams = Type.Object({ ...monthParam, name: Type.String() })
const ActionForm = Type.Object(actionFields)

/** Findings of earlier months that a page lists. */
const MAX_EARLIER = 50

/** /console/reports/{month}: closes a month step by step, and shows how it was closed. */
export function monthPages(scope: App, services: ConsoleServices): void {
  const { db, audit } = services
  const { url, closingsFolder, sealsFolder, checkpoints: signer, piiKey, jobs } = audit

  const readMonth = async (month: string): Promise<ReadMonth> => {
    // First: a step that has ended since is shown as ended, and not as waiting.
    const job = await findStepsJob(jobs, month)
    const [books, states] = await Promise.all([readMonthBooks(db, month), readSteps(db, month)])
    return { books, states, job, folder: monthFolder(closingsFolder, month) }
  }

  scope.get('/reports/:month', { schema: { params: MonthParams } }, async (request, reply) => {
    const { month } = request.params
    const [read, earlier] = await Promise.all([readMonth(month), earlierAcknowledgements(db, month, MAX_EARLIER)])
    const { books, states, folder } = read
    return sendSections(request, reply, {
      title: `Closing of ${month}`,
      scripts: ['htmx'],
      isLong: true,
      sections: [
        { facts: books.closing !== null || isNextToClose(books) ? factsOf(books) : null },
        { note: noticeOf(books) },
        ...(books.closing === null ? [] : recordedSections(month, books.closing, filesOf(states, folder))),
        ...stepSections(books, showMonth(read)),
        acknowledgedSection('Acknowledged for earlier months', earlier),
        { text: [{ href: '/console/reports', text: 'All months' }] },
      ],
    })
  })

  scope.get('/reports/:month/steps/:step/progress', { schema: { params: StepParams } }, async (request, reply) => {
    const { month, step } = request.params
    const progress = showProgress(month, await readStep(db, month, step))
    // Its end changes other parts of the page, too.
    if (progress === null) reply.header('hx-refresh', 'true')
    return sendPart(request, reply, progressTemplate, { page: monthPath(month), read: () => ({ progress }) })
  })

  // Between two steps the page is loaded again, until one runs or all have ended.
  scope.get('/reports/:month/progress', { schema: { params: MonthParams } }, (request, reply) => {
    reply.header('hx-refresh', 'true')
    const page = monthPath(request.params.month)
    return sendPart(request, reply, progressTemplate, { page, read: () => ({ progress: null }) })
  })

  const isVerificationRunning = async (month: string): Promise<boolean> => {
    const newest = await newestVerification(jobs)
    // A verification of these steps themselves is no other one. Of two clicks at once, the first may have begun it meanwhile.
    return newest?.outcome === 'running' && (await findStepsJob(jobs, month)) === null
  }

  const start = async (
    request: FastifyRequest,
    reply: FastifyReply,
    month: string,
    chooseSteps: (read: ReadMonth) => readonly ClosingStep[],
  ): Promise<FastifyReply> => {
    const read = await readMonth(month)
    if (read.books.refusal !== null) throw refused(read.books.refusal.code)
    const steps = chooseSteps(read)
    // A form that is sent again after the last step.
    if (steps.length === 0) return reply.redirect(monthPath(month), 303)
    if (steps.includes('verify') && (await isVerificationRunning(month))) throw refused(VERIFICATION_RUNNING)
    const startedBy = actorIn(request)
    try {
      await startSteps({ jobs, url, db, signer, piiKey, closingsFolder, sealsFolder }, { month, steps, startedBy })
    } catch (error) {
      if (!(error instanceof ClosingRefused)) throw error
      // The first of two clicks at once has started them.
      const job = await findStepsJob(jobs, month)
      const isStarted = job?.startedBy === startedBy && steps.every((step) => job.steps.includes(step))
      if (!isStarted) throw refused(error.code)
    }
    return reply.redirect(monthPath(month), 303)
  }
  const config = { mayFinanceWrite: true } as const

  scope.post(
    '/reports/:month/steps/:step/run',
    { config, schema: { params: StepParams, body: ActionForm } },
    (request, reply) => {
      const { month, step } = request.params
      return start(request, reply, month, () => [step])
    },
  )
  scope.post('/reports/:month/run', { config, schema: { params: MonthParams, body: ActionForm } }, (request, reply) => {
    const { month } = request.params
    return start(request, reply, month, ({ books, states }) =>
      states.filter((state) => !isDone(state, books)).map(({ step }) => step),
    )
  })
  scope.post(
    '/reports/:month/stop',
    { config, schema: { params: MonthParams, body: ActionForm } },
    async (request, reply) => {
      const { month } = request.params
      const job = await findStepsJob(jobs, month)
      if (job !== null) await jobs.stop(job.id, actorIn(request))
      // Where steps run elsewhere, the page says that somebody asked for their end; where nothing ran, what there is.
      const isStopped = job !== null && (await findStepsJob(jobs, month)) === null
      const page = monthPath(month)
      return isStopped ? leadToDone(request, reply, page, 'stopped') : reply.redirect(page, 303)
    },
  )
  addReviewedAction(scope, services, {
    path: '/reports/:month/record',
    params: MonthParams,
    mayFinanceWrite: true,
    query: Type.Object({}),
    async review(request) {
      const month = monthOf(request)
      const read = await readMonth(month)
      const { mayRun, left } = showMonth(read)
      // Its page says why it cannot be recorded.
      return mayRun && left.length === 0 ? recordPage(read) : monthPath(month)
    },
    fields: {},
    action(request) {
      const month = monthOf(request)
      const back = monthPath(month)
      return { method: 'POST', path: '/ledger/closings', body: { month }, back, done: 'month-closed' }
    },
  })

  addAction(scope, services, {
    path: '/reports/:month/acknowledge',
    params: MonthParams,
    fields: { finding: Type.String({ maxLength: 100 }), reason: Type.String({ maxLength: 2_000 }) },
    action(request, { finding, reason }) {
      const month = monthOf(request)
      const path = `/ledger/closings/${month}/acknowledge`
      return { method: 'POST', path, body: { finding, reason }, back: monthPath(month), done: 'acknowledged' }
    },
  })

  scope.get('/reports/:month/files/:name', { schema: { params: FileParams } }, async (request, reply) => {
    const { month, name } = request.params
    const folder = monthFolder(closingsFolder, month)
    const file = findClosingFile(folder, name)
    if (file === null) throw notFound()
    // One of the same name may be left from an earlier run, while the one that the page shows is elsewhere.
    const [{ closing }, states] = await Promise.all([readMonthBooks(db, month), readSteps(db, month)])
    const files = filesOf(states, folder)
    const shown = closing === null ? files : recordedFiles(closing, files)
    if (!shown.some((one) => one.name === name && isHere(one))) throw notFound()
    // Without its length: a step that is run again writes the file again while it is sent.
    return reply
      .header('content-disposition', `attachment; filename="${name}"`)
      .type('application/octet-stream')
      .send(createReadStream(file.path))
  })
}

/** Its schema has checked it. */
const monthOf = ({ params }: FastifyRequest): string => String(Object(params).month)

function refused(code: string): HttpError {
  const { status, message } = refusalResponseOf({ refusal: code })
  return new HttpError(status, code, message)
}
