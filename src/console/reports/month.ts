import { createReadStream } from 'node:fs'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AcknowledgedFinding } from '../../../schema/events.ts'
import { ClosingRefused } from '../../audit/closings/closing-refused.ts'
import { findClosingFile, monthFolder, readFolderId } from '../../audit/closings/folder.ts'
import { type MonthBooks, readMonthBooks } from '../../audit/closings/month-books.ts'
import { readStep, readSteps } from '../../audit/closings/step-rows.ts'
import type { StepState } from '../../audit/closings/step-state.ts'
import { findStepsJob, type StepsJob, startSteps } from '../../audit/closings/steps-job.ts'
import { newestVerification } from '../../audit/jobs/verifications.ts'
import { refusalResponseOf } from '../../domain.ts'
import { type ClosingStep, closingSteps, VERIFICATION_RUNNING } from '../../features/closings/closing-steps.ts'
import { MONTH_PATTERN, nextMonth } from '../../features/closings/month.ts'
import { earlierAcknowledgements } from '../../features/closings/reads.ts'
import type { App } from '../../features/services.ts'
import { HttpError, notFound } from '../../http/errors/http-error.ts'
import type { ConsoleServices } from '../console-services.ts'
import { act, actFields } from '../frame/act.ts'
import { type Cell, codeCell, textCell, timeCell } from '../frame/cells/cells.ts'
import { actorCell, eventCell } from '../frame/cells/links.ts'
import { leadToDone } from '../frame/done/done-cookie.ts'
import { isoNow } from '../frame/iso-now.ts'
import { sendPage, sendPart } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import type { Table } from '../lists/list.ts'
import { actorIn } from '../session/session-check.ts'
import { closesFrom, eventsOf, monthPath } from './months.ts'
import {
  isDone,
  isHere,
  type ShownFile,
  type StepProgress,
  type StepView,
  showAcknowledged,
  showFiles,
  showProgress,
  showStep,
  stepTitle,
} from './step-view.ts'

interface MonthData {
  readonly month: string
  readonly path: string
  readonly facts: readonly (readonly [string, Cell])[]
  /** Why the month cannot be closed, and what to do; null when it can, or is closed. */
  readonly notice: string | null
  /** The closing, once it was recorded. */
  readonly closing: {
    readonly facts: readonly (readonly [string, Cell])[]
    readonly event: number
    readonly files: Table
    /** What its steps found that was acknowledged; null for nothing. */
    readonly acknowledged: Table | null
    readonly nextMonth: string
  } | null
  /** The newest findings that were acknowledged for earlier months; null for none. */
  readonly earlier: Table | null
  readonly steps: readonly StepView[]
  /** Whether steps can be run now: the month can be closed, and none is running. */
  readonly mayRun: boolean
  /** Who asked for the end of the step that runs; null when nobody did. */
  readonly stoppedBy: Cell | null
  readonly isRunning: boolean
  /** One step has ended and the next one has not begun, or the last one has ended: no bar follows the run. */
  readonly isBetweenSteps: boolean
  /** Names of the steps that are not done. */
  readonly left: readonly string[]
}

interface RecordData {
  readonly month: string
  readonly path: string
  readonly facts: readonly (readonly [string, Cell])[]
  readonly files: Table
  readonly acknowledged: Table | null
  readonly nextMonth: string
}

interface ProgressData {
  /** Null when the step does not run any more. */
  readonly progress: StepProgress | null
}

const template = defineTemplate<MonthData>('/reports/month.eta')
const recordTemplate = defineTemplate<RecordData>('/reports/record.eta')
const progressTemplate = defineTemplate<ProgressData>('/reports/progress.eta')

const monthParam = { month: Type.String({ pattern: MONTH_PATTERN }) }
const MonthParams = Type.Object(monthParam)
const StepParams = Type.Object({ ...monthParam, step: Type.Union(closingSteps.map((step) => Type.Literal(step))) })
const FileParams = Type.Object({ ...monthParam, name: Type.String() })
const ActForm = Type.Object(actFields)
const AcknowledgeForm = Type.Object({
  ...actFields,
  finding: Type.String({ maxLength: 100 }),
  reason: Type.String({ maxLength: 2_000 }),
})

/** Findings of earlier months that a page lists. */
const MAX_EARLIER = 50

/** /console/reports/{month}: closes a month step by step, and shows how it was closed. */
export function monthPages(scope: App, services: ConsoleServices): void {
  const { db, audit } = services
  const { url, closingsFolder, checkpoints: signer, piiKey, jobs } = audit

  const readMonth = async (month: string): Promise<ReadMonth> => {
    // First: a step that has ended since is shown as ended, and not as waiting.
    const job = await findStepsJob(jobs, month)
    const [books, states] = await Promise.all([readMonthBooks(db, month), readSteps(db, month)])
    return { books, states, job, folder: monthFolder(closingsFolder, month) }
  }

  scope.get('/reports/:month', { schema: { params: MonthParams } }, async (request, reply) => {
    const { month } = request.params
    const [read, earlier] = await Promise.all([readMonth(month), earlierAcknowledgements(db, month, MAX_EARLIER)])
    return sendPage(request, reply, template, {
      title: `Closing of ${month}`,
      scripts: ['htmx'],
      data: { ...showMonth(read), earlier: acknowledgedTable('Acknowledged for earlier months', earlier) },
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
    if (steps.includes('verify') && (await isVerificationRunning(month))) throw refused(VERIFICATION_RUNNING)
    const startedBy = actorIn(request)
    try {
      await startSteps({ jobs, url, db, signer, piiKey, closingsFolder }, { month, steps, startedBy })
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
    { config, schema: { params: StepParams, body: ActForm } },
    (request, reply) => {
      const { month, step } = request.params
      return start(request, reply, month, () => [step])
    },
  )
  scope.post('/reports/:month/run', { config, schema: { params: MonthParams, body: ActForm } }, (request, reply) => {
    const { month } = request.params
    return start(request, reply, month, ({ books, states }) =>
      states.filter((state) => !isDone(state, books)).map(({ step }) => step),
    )
  })
  scope.post(
    '/reports/:month/stop',
    { config, schema: { params: MonthParams, body: ActForm } },
    async (request, reply) => {
      const { month } = request.params
      const job = await findStepsJob(jobs, month)
      if (job !== null) await jobs.stop(job.id, actorIn(request))
      // Of what runs elsewhere the page says that somebody asked for its end; where nothing ran, what there is.
      const isStopped = job !== null && (await findStepsJob(jobs, month)) === null
      const page = monthPath(month)
      return isStopped ? leadToDone(request, reply, page, 'stopped') : reply.redirect(page, 303)
    },
  )
  scope.get('/reports/:month/record', { schema: { params: MonthParams } }, async (request, reply) => {
    const { month } = request.params
    const read = await readMonth(month)
    const { books, states, folder } = read
    const { mayRun, left } = showMonth(read)
    // Its page says why it cannot be recorded.
    if (!mayRun || left.length > 0) return reply.redirect(monthPath(month), 303)
    return sendPage(request, reply, recordTemplate, {
      title: `Close ${month} for good?`,
      data: {
        month,
        path: monthPath(month),
        facts: [...factsOf(books), ['Its hash', codeCell(books.hash)]],
        files: showFiles(month, 'Files to be recorded', filesOf(states, folder)),
        acknowledged: acknowledgedTable('Acknowledged findings to be recorded', acknowledgedIn(states)),
        nextMonth: nextMonth(month),
      },
    })
  })
  scope.post('/reports/:month/record', { config, schema: { params: MonthParams, body: ActForm } }, (request, reply) => {
    const { month } = request.params
    const { key } = request.body
    const back = monthPath(month)
    const path = '/ledger/closings'
    return act(request, reply, services, { method: 'POST', path, body: { month }, key, back, done: 'month-closed' })
  })

  scope.post(
    '/reports/:month/acknowledge',
    { schema: { params: MonthParams, body: AcknowledgeForm } },
    (request, reply) => {
      const { month } = request.params
      const { key, finding, reason } = request.body
      const path = `/ledger/closings/${month}/acknowledge`
      const body = { finding, reason }
      return act(request, reply, services, {
        method: 'POST',
        path,
        body,
        key,
        back: monthPath(month),
        done: 'acknowledged',
      })
    },
  )

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
    // Without its length: a step that is run again writes the file anew while it is sent.
    return reply
      .header('content-disposition', `attachment; filename="${name}"`)
      .type('application/octet-stream')
      .send(createReadStream(file.path))
  })
}

function refused(code: string): HttpError {
  const { status, message } = refusalResponseOf({ refusal: code })
  return new HttpError(status, code, message)
}

/** A month as it is now. */
interface ReadMonth {
  readonly books: MonthBooks
  readonly states: readonly StepState[]
  /** The job that runs steps of it; null for none. */
  readonly job: StepsJob | null
  readonly folder: string
}

function showMonth({ books, states, job, folder }: ReadMonth): Omit<MonthData, 'earlier'> {
  const { month, closing, refusal } = books
  const isUntouched = states.every(({ state }) => state === 'waiting')
  const begun = states.flatMap((one) => (one.state !== 'waiting' && one.job_id === job?.id ? [one.step] : []))
  const queued = job?.steps.filter((step) => !begun.includes(step)) ?? []
  const files = filesOf(states, folder)
  const steps = states.map((state) => showStep(state, { ...books, queued, files }))
  return {
    month,
    path: monthPath(month),
    facts: closing !== null || isNextToClose(books) ? factsOf(books) : [],
    notice: closing === null ? noticeOf(books) : null,
    closing: closing && {
      facts: [
        ['Closed by', actorCell(closing.closed_by)],
        ['Closed', timeCell(closing.closed_at)],
        ['Its event', eventCell(closing.id)],
        ['Last event of the month', eventCell(closing.position)],
        ['Checkpoint signed', timeCell(closing.checkpoint.at)],
        ['Checkpoint’s hash', codeCell(closing.checkpoint.hash)],
      ],
      files: showFiles(month, 'Recorded files', recordedFiles(closing, files)),
      acknowledged: acknowledgedTable('Acknowledged findings', closing.acknowledged),
      event: closing.id,
      nextMonth: nextMonth(month),
    },
    // Of a month that cannot be closed nothing is to be shown.
    steps: refusal !== null && isUntouched ? [] : steps,
    mayRun: refusal === null && job === null,
    stoppedBy: job === null || job.stoppedBy === null ? null : actorCell(job.stoppedBy),
    isRunning: job !== null,
    isBetweenSteps: job !== null && states.every(({ state }) => state !== 'running'),
    left: steps.filter((step) => !step.isDone).map(({ step }) => stepTitle(step).toLowerCase()),
  }
}

const acknowledgedIn = (states: readonly StepState[]): readonly AcknowledgedFinding[] =>
  states.flatMap((state) => (state.state === 'waiting' ? [] : state.findings.flatMap((one) => one.acknowledged ?? [])))

const acknowledgedTable = (label: string, acknowledged: readonly AcknowledgedFinding[]): Table | null =>
  acknowledged.length === 0 ? null : showAcknowledged(label, acknowledged)

/** The files that steps made, and where those are that are not in this instance's folder. */
function filesOf(states: readonly StepState[], folder: string): readonly ShownFile[] {
  const folderId = readFolderId(folder)
  return states.flatMap((step) => {
    if (step.state === 'waiting') return []
    const isThisFolder = step.folder_id === folderId
    return step.files.map(({ name, sha256, bytes }): ShownFile => {
      const isLost = isThisFolder && findClosingFile(folder, name)?.bytes !== bytes
      return { name, sha256, bytes: isLost ? undefined : bytes, keptIn: isThisFolder ? null : step.kept_in }
    })
  })
}

/** The files of a closing that was recorded; missing where no step says that it made them. */
const recordedFiles = (
  { files }: NonNullable<MonthBooks['closing']>,
  made: readonly ShownFile[],
): readonly ShownFile[] =>
  files.map(
    ({ name, sha256 }) =>
      made.find((one) => one.name === name && one.sha256 === sha256) ?? {
        name,
        sha256,
        bytes: undefined,
        keptIn: null,
      },
  )

/** Whether the events that it would cover are those of the month, and not of months before it that are open, too. */
function isNextToClose({ month, previous }: MonthBooks): boolean {
  return previous === null ? month <= isoNow().slice(0, 7) : month === nextMonth(previous.month)
}

const factsOf = ({ first, last, first_at, last_at, previous }: MonthBooks): MonthData['facts'] => [
  ['Covers events', textCell(eventsOf(first, last))],
  ['First event', timeCell(first_at)],
  ['Last event', timeCell(last_at)],
  ['Begins after', previous === null ? textCell('the start of the ledger') : previousCell(previous)],
]

const previousCell = ({ month, position }: NonNullable<MonthBooks['previous']>): Cell =>
  textCell(`the closing of ${month}, event ${position}`, monthPath(month))

function noticeOf({ month, previous, refusal }: MonthBooks): string | null {
  if (refusal === null) return null
  const why = refusal.message.en
  if (month >= isoNow().slice(0, 7)) {
    return `${why} It can be closed from ${closesFrom(month)} on. Until then, the trial balance and a verification show whether the books are right.`
  }
  const next = previous && nextMonth(previous.month)
  return next === null || month <= next ? why : `${why} That is ${next}.`
}
