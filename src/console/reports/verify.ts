import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type MadeCheckpoint, VerificationRun } from '../../../schema/finance.ts'
import { findCheckpoint, readCheckpoints } from '../../audit/checkpoint.ts'
import type { Jobs } from '../../audit/jobs/jobs.ts'
import { formatFindingCount, MAX_FINDINGS } from '../../audit/verify/finding.ts'
import {
  findVerification,
  lastFullVerification,
  listVerifications,
  newestVerification,
} from '../../audit/verify/verifications.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idOf } from '../../http/validation/request-parts.ts'
import { validationFailed } from '../../http/validation/validation.ts'
import type { Messages } from '../../language/messages.ts'
import { adminError, type ConsolePages } from '../console-services.ts'
import { actionFields, addAction } from '../layout/action.ts'
import {
  type Cell,
  codeCell,
  type Facts,
  formatAge,
  formatCount,
  numberCell,
  statusCell,
  type Tone,
  textCell,
  timeCell,
  wordCell,
} from '../layout/cells.ts'
import { leadToDone } from '../layout/done.ts'
import { actorCell, eventCell, idCell, pagePath, rowPath } from '../layout/links.ts'
import { sendPage, sendPart } from '../layout/send-page.ts'
import { defineTemplate } from '../layout/templates.ts'
import {
  column,
  type List,
  noFilters,
  numberColumn,
  type PartColumn,
  part,
  partTable,
  querySchemaOf,
  readTable,
  type Table,
} from '../lists/list.ts'
import { addExports } from '../lists/list-page.ts'
import { formatProgress, readJobRows } from './jobs.ts'

/** What staff read about forms of verifications. */
const verifyMessages = {
  no_checkpoint: {
    en: 'Expected the text of a checkpoint file, which is JSON.',
    ar: 'يجب إدخال نص ملف نقطة تحقق، وهو بصيغة JSON.',
  },
} satisfies Messages

interface RunData {
  readonly id: number
  readonly isRunning: boolean
  /** What came of it, in a sentence; null without a result. */
  readonly verdict: string | null
  readonly facts: Facts
  readonly done: number
  readonly of: number
  /** `12,000 of 48,000 events, 9,000 a second, 4 s left` */
  readonly progress: string
  readonly findings: Table
}

interface ListData {
  readonly running: RunData | null
  /** How long ago the last one from position 1 began; null without one. */
  readonly lastFull: string | null
  readonly checkpoint: { readonly facts: Facts; readonly text: string; readonly href: string } | null
  readonly checkpoints: Table
  readonly runs: Table
}

/** Checkpoints that the page lists. */
const MAX_CHECKPOINTS = 10

const listTemplate = defineTemplate<ListData>('/reports/verify.eta')
const runTemplate = defineTemplate<RunData>('/reports/verification.eta')
const progressTemplate = defineTemplate<RunData>('/reports/verification-progress.eta')

const oneRun = TypeCompiler.Compile(Type.Object({ data: VerificationRun }))
const StartForm = Type.Object({
  ...actionFields,
  checkpoint: Type.Optional(Type.String({ maxLength: 10_000 })),
  full: Type.Optional(Type.Literal('on')),
})
const ActionForm = Type.Object(actionFields)

/** /console/verify: verifications, their progress and what they found; checkpoints, made and compared. */
export const verifyPages: ConsolePages = (scope, services) => {
  const { adminRequest, db, audit } = services
  const list = runList(audit.jobs)
  const findRun = async (id: number): Promise<VerificationRun> => {
    const run = await findVerification(audit.jobs, id)
    if (run === null) throw notFound()
    return run
  }

  scope.get('/verify', { schema: { querystring: querySchemaOf(list) } }, async (request, reply) => {
    const [{ table }, checkpoints, newest, full] = await Promise.all([
      readTable(list, request, services, '/console/verify'),
      readCheckpoints(db, audit.checkpoints, MAX_CHECKPOINTS),
      // The rows may be older ones. As one runs at a time, it is the newest.
      newestVerification(audit.jobs),
      lastFullVerification(audit.jobs),
    ])
    const [made] = checkpoints
    const checkpoint = made && {
      facts: [
        ['Position', codeCell(String(made.checkpoint.position), `/console/events/${made.checkpoint.position}`)],
        ['Made by', actorCell(made.made_by)],
        ['Made', timeCell(made.checkpoint.at)],
        ['Age', textCell(formatAge(Date.now() - Date.parse(made.checkpoint.at)))],
      ] as const,
      text: textOf(made),
      href: checkpointPath(made.id),
    }
    return sendPage(request, reply, listTemplate, {
      title: 'Verify',
      scripts: ['htmx', 'checkpoint-file'],
      data: {
        running: newest?.outcome === 'running' ? show(newest) : null,
        lastFull: full === null ? null : formatAge(Date.now() - Date.parse(full)),
        checkpoint: checkpoint ?? null,
        checkpoints: showCheckpoints(checkpoints),
        runs: table,
      },
    })
  })
  addExports(scope, '/verify', list, services)

  scope.get('/verify/checkpoints/:id', async (request, reply) => {
    const made = await findCheckpoint(db, audit.checkpoints, idOf(request))
    if (made === null) throw notFound()
    return reply
      .header('content-disposition', `attachment; filename="checkpoint-${made.checkpoint.position}.json"`)
      .type('application/json; charset=utf-8')
      .send(`${textOf(made)}\n`)
  })

  scope.get('/verify/:id', async (request, reply) => {
    const id = idOf(request)
    return sendPage(request, reply, runTemplate, {
      title: `Verification ${id}`,
      scripts: ['htmx'],
      data: show(await findRun(id)),
    })
  })

  scope.get('/verify/:id/progress', (request, reply) => {
    const id = idOf(request)
    const read = async () => show(await findRun(id))
    return sendPart(request, reply, progressTemplate, { page: pagePath('verification', id), read })
  })

  scope.post(
    '/verify/start',
    { config: { mayFinanceWrite: true }, schema: { body: StartForm } },
    async (request, reply) => {
      const { key, checkpoint = '', full } = request.body
      const body = {
        ...(checkpoint.trim() !== '' && { checkpoint: parseCheckpoint(checkpoint) }),
        ...(full === 'on' && { full: true }),
      }
      const started = await adminRequest(request, {
        method: 'POST',
        path: '/ledger/verifications',
        body,
        idempotencyKey: key,
      })
      if (!oneRun.Check(started.body)) throw adminError(started)
      return reply.redirect(pagePath('verification', started.body.data.id), 303)
    },
  )

  scope.post(
    '/verify/:id/stop',
    { config: { mayFinanceWrite: true }, schema: { body: ActionForm } },
    async (request, reply) => {
      const id = idOf(request)
      const page = pagePath('verification', id)
      const stopped = await adminRequest(request, {
        method: 'POST',
        path: `/ledger/verifications/${id}/stop`,
        body: {},
        idempotencyKey: request.body.key,
      })
      if (!oneRun.Check(stopped.body)) throw adminError(stopped)
      // One that had ended before was stopped by nobody.
      const { stopped_by } = stopped.body.data
      return stopped_by === null ? reply.redirect(page, 303) : leadToDone(request, reply, page, 'stopped')
    },
  )

  addAction(scope, services, {
    path: '/verify/checkpoint',
    mayFinanceWrite: true,
    fields: {},
    action: () => ({ method: 'POST', path: '/ledger/checkpoints', back: '/console/verify', done: 'checkpoint-made' }),
  })
}

const checkpointPath = (id: number): string => `/console/verify/checkpoints/${id}`

/** What people keep, and give to a verification. */
const textOf = ({ checkpoint }: MadeCheckpoint): string => JSON.stringify(checkpoint, null, 2)

const showCheckpoints = (checkpoints: readonly MadeCheckpoint[]): Table =>
  partTable<MadeCheckpoint>({
    label: 'Checkpoints',
    empty: 'No checkpoint was made yet.',
    rows: checkpoints,
    columns: [
      part('Position', ({ checkpoint }) => eventCell(checkpoint.position)),
      part('Made by', ({ made_by }) => actorCell(made_by)),
      part('Made', ({ checkpoint }) => timeCell(checkpoint.at)),
      part('File', ({ id, checkpoint }) => textCell(`checkpoint-${checkpoint.position}.json`, checkpointPath(id))),
    ],
  })

/**
 * A file that was dropped in, or its text. What it must hold is checked by the route; here a 422 is thrown for what is no
 * JSON, and for `null`, which would be taken for no checkpoint at all.
 */
function parseCheckpoint(text: string): unknown {
  const parsed = parseJson(text)
  if (parsed === undefined || parsed === null) throw validationFailed({ checkpoint: [verifyMessages.no_checkpoint] })
  return parsed
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const tones: Readonly<Record<VerificationRun['outcome'], Tone>> = {
  running: 'waiting',
  clean: 'good',
  findings: 'bad',
  stopped: 'neutral',
  failed: 'bad',
}

const runList = (jobs: Jobs): List<typeof noFilters, VerificationRun> => ({
  label: 'Verifications',
  filters: noFilters,
  isOfNow: true,
  empty: 'Nobody has verified the ledger yet. Start a verification: it reads every event and every table.',
  columns: [
    column('id', 'Run', ({ id }) => idCell('verification', id)),
    column('outcome', 'Outcome', ({ outcome }) => statusCell(outcome, tones[outcome])),
    numberColumn('findings', 'Findings', ({ findings }) => findingsCell(findings.length)),
    column('checkpoint', 'Compared with', ({ checkpoint }) =>
      eventCell(checkpoint === null ? null : checkpoint.position),
    ),
    column('seal', 'From seal', ({ seal }) => eventCell(seal)),
    column('up_to', 'Up to', ({ up_to }) => eventCell(up_to)),
    column('started_by', 'Started by', ({ started_by }) => actorCell(started_by)),
    column('started_at', 'Started', ({ started_at }) => timeCell(started_at)),
    column('ended_at', 'Ended', ({ ended_at }) => timeCell(ended_at)),
  ],
  read: (asked) => readJobRows(asked, (limit, before) => listVerifications(jobs, limit, before)),
})

/** A full report has the number that it has room for: there may be more. */
const findingsCell = (count: number): Cell =>
  count >= MAX_FINDINGS ? { ...numberCell(count), text: `${formatCount(count)} or more` } : numberCell(count)

type Found = VerificationRun['findings'][number]

const findingColumns: readonly PartColumn<Found>[] = [
  part('Check', ({ check }) => wordCell(check)),
  part('Event', ({ position }) => eventCell(position)),
  part('Table', ({ table }) => codeCell(table)),
  part('Row', ({ table, id }) => codeCell(id, table && id && rowPath(table, id))),
  part('What is wrong', ({ message }) => textCell(message)),
]

function show(run: VerificationRun): RunData {
  const { id, outcome, progress, findings, checkpoint, stopped_by, seal, notices } = run
  return {
    id,
    isRunning: outcome === 'running',
    verdict:
      outcome === 'clean'
        ? `Clean: all ${formatCount(progress.events)} events${seal === null ? '' : ' after the seal'}, their draws, and every table are right.`
        : outcome === 'findings'
          ? `${formatFindingCount(findings.length)}${findings.length < MAX_FINDINGS ? ', listed below' : '; the first are listed below'}.`
          : null,
    done: progress.events,
    of: Math.max(1, progress.of),
    progress: formatProgress(run),
    facts: [
      ['Outcome', statusCell(outcome, tones[outcome])],
      ...(seal === null ? [] : [['From the seal at', eventCell(seal)] as const]),
      ['Up to position', eventCell(run.up_to)],
      ['Started by', actorCell(run.started_by)],
      ['Started', timeCell(run.started_at)],
      ['Ended', timeCell(run.ended_at)],
      ...(stopped_by === null ? [] : [['Stopped by', actorCell(stopped_by)] as const]),
      ['Compared with checkpoint', checkpoint === null ? textCell('none') : eventCell(checkpoint.position)],
      ...notices.map((notice) => ['Notice', textCell(notice)] as const),
    ],
    findings: partTable({
      label: 'Findings',
      empty:
        outcome === 'clean'
          ? 'Nothing was found: every event, table and draw is as the ledger says.'
          : 'Nothing was found so far.',
      columns: findingColumns,
      rows: findings,
    }),
  }
}
