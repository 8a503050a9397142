import { Type } from '@sinclair/typebox'
import type { Job } from '../../../schema/finance.ts'
import type { Jobs } from '../../audit/jobs/jobs.ts'
import { readEventTime } from '../../audit/reports/period.ts'
import { decodeCursor, pageBody } from '../../http/pages.ts'
import { idInPath } from '../../http/validation/ids.ts'
import type { ConsolePages } from '../console-services.ts'
import { act, actFields } from '../frame/act.ts'
import { addressWith } from '../frame/address.ts'
import {
  type Cell,
  codeCell,
  formatAge,
  formatCount,
  formatWord,
  numberCell,
  sentenceCase,
  statusCell,
  type Tone,
  textCell,
  timeCell,
} from '../frame/cells/cells.ts'
import { actorCell } from '../frame/cells/links.ts'
import { sendPage } from '../frame/send-page.ts'
import { defineTemplate } from '../frame/template.ts'
import { addExports } from '../lists/exports.ts'
import { type List, type ListRequest, type ListRows, querySchemaOf, readTable, type Table } from '../lists/list.ts'

interface ShownJob {
  readonly job: Job
  readonly what: Cell
  readonly startedBy: Cell
  readonly stoppedBy: Cell
  readonly progress: string
}

const template = defineTemplate<{ readonly running: readonly ShownJob[]; readonly table: Table }>('/jobs/jobs.eta')

/** Jobs that the page shows with their progress: more do not run at a time on a few instances. */
const MAX_RUNNING = 50

/** /console/jobs: all that takes long, on any instance. What runs can be stopped there. */
export const jobPages: ConsolePages = (scope, services) => {
  const { jobs } = services.audit
  const list = jobList(jobs)

  scope.get('/jobs', { schema: { querystring: querySchemaOf(list) } }, async (request, reply) => {
    const [{ table }, running] = await Promise.all([
      readTable(list, request, services, '/console/jobs'),
      jobs.list({ isRunning: true, limit: MAX_RUNNING }),
    ])
    return sendPage(request, reply, template, {
      title: 'Jobs',
      scripts: running.length === 0 ? [] : ['htmx'],
      data: { running: running.map(({ job }) => show(job)), table },
    })
  })
  addExports(scope, '/jobs', list, services)

  scope.post(
    '/jobs/:id/stop',
    {
      config: { mayFinanceWrite: true },
      schema: { params: Type.Object({ id: Type.String() }), body: Type.Object(actFields) },
    },
    (request, reply) => {
      const path = `/jobs/${idInPath(request.params.id)}/stop`
      const { key } = request.body
      return act(request, reply, services, { method: 'POST', path, key, back: '/console/jobs', done: 'stop-asked' })
    },
  )
}

const show = (job: Job): ShownJob => ({
  job,
  what: whatCell(job),
  startedBy: actorCell(job.started_by),
  stoppedBy: actorCell(job.stopped_by),
  progress: formatProgress(job),
})

/** `12,000 of 48,000 events, 9,000 a second, 4 s left` */
export const formatProgress = ({
  progress: { events, of },
  rate,
  seconds_left,
}: Pick<Job, 'progress' | 'rate' | 'seconds_left'>): string =>
  [
    `${formatCount(events)} of ${formatCount(of)} events`,
    ...(rate === null ? [] : [`${formatCount(rate)} a second`]),
    ...(seconds_left === null ? [] : [`${formatAge(seconds_left * 1_000)} left`]),
  ].join(', ')

const whatCell = (job: Job): Cell =>
  textCell(sentenceCase(`${formatWord(job.kind)} ${job.subject}`.trim()), pathOf(job))

/** The page that shows more of a job; undefined where there is none. */
function pathOf({ id, kind, subject }: Job): string | undefined {
  switch (kind) {
    case 'verification':
      return `/console/verify/${id}`
    case 'closing':
      return `/console/reports/${subject}`
    case 'trial-balance':
      return addressWith('/console/reports/trial-balance', { at: subject })
    case 'draws': {
      const [from, to] = subject.split('-')
      return addressWith('/console/draws', { from, to })
    }
    case 'streamed-verification':
    case 'rebuild':
      return undefined
  }
}

const tones: Readonly<Record<Job['state'], Tone>> = {
  running: 'waiting',
  done: 'good',
  stopped: 'neutral',
  failed: 'bad',
}

const noFilters = Type.Object({})

const jobList = (jobs: Jobs): List<typeof noFilters, Job> => ({
  label: 'Jobs',
  filters: noFilters,
  isOfNow: true,
  empty: 'Nothing that takes long was started yet.',
  columns: [
    { name: 'id', title: 'Job', cell: ({ id }) => codeCell(String(id)) },
    { name: 'what', title: 'What', cell: whatCell },
    { name: 'state', title: 'State', cell: ({ state }) => statusCell(state, tones[state]) },
    { name: 'result', title: 'Result', cell: ({ result }) => textCell(result) },
    { name: 'events', title: 'Events', isNumber: true, cell: ({ progress }) => numberCell(progress.events) },
    { name: 'of', title: 'Of', isNumber: true, cell: ({ progress }) => numberCell(progress.of) },
    { name: 'started_by', title: 'Started by', cell: ({ started_by }) => actorCell(started_by) },
    { name: 'started_at', title: 'Started', cell: ({ started_at }) => timeCell(started_at) },
    { name: 'ended_at', title: 'Ended', cell: ({ ended_at }) => timeCell(ended_at) },
    { name: 'stopped_by', title: 'Stopped by', cell: ({ stopped_by }) => actorCell(stopped_by) },
  ],
  read: (asked) =>
    readJobRows(asked, async (limit, before) => (await jobs.list({ before, limit })).map(({ job }) => job)),
})

/** A page of jobs, newest first; `list` reads those with ids below `before`. */
export async function readJobRows<Row extends { readonly id: number; readonly started_at: string }>(
  { db, at, cursor, limit }: Pick<ListRequest<unknown>, 'db' | 'at' | 'cursor' | 'limit'>,
  list: (limit: number, before: number | null) => Promise<readonly Row[]>,
): Promise<ListRows<Row>> {
  const rows = await list(limit + 1, cursor === null ? null : (decodeCursor(cursor, 1)[0] ?? null))
  const page = pageBody(rows.slice(0, limit), rows.length > limit, ({ id }) => [id])
  // Jobs are no events: what began before the event after the position belongs to it.
  const after = await readEventTime(db, at + 1)
  const begun = page.data.filter(({ started_at }) => after === null || Date.parse(started_at) * 1_000 < after)
  return { rows: begun, next: page.meta.next_cursor }
}
