import type { Job } from '../../../schema/finance.ts'
import type { Jobs } from '../../audit/jobs/jobs.ts'
import { readEventTime } from '../../audit/reports/period.ts'
import { decodeCursor, pageBody } from '../../http/pages.ts'
import { idOf } from '../../http/validation/request-parts.ts'
import type { ConsolePages } from '../console-services.ts'
import { addAction } from '../layout/action.ts'
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
} from '../layout/cells.ts'
import { actorCell, addressWith, pagePath } from '../layout/links.ts'
import { column, type List, type ListRequest, type ListRows, noFilters, numberColumn } from '../lists/list.ts'
import { addListPage } from '../lists/list-page.ts'

interface ShownJob {
  readonly job: Job
  readonly what: Cell
  readonly startedBy: Cell
  readonly stoppedBy: Cell
  readonly progress: string
}

/** Jobs that the page shows with their progress: more do not run at a time on a few instances. */
const MAX_RUNNING = 50

/** /console/jobs: all that takes long, on any instance. What runs can be stopped there. */
export const jobPages: ConsolePages = (scope, services) => {
  const { jobs } = services.audit
  addListPage(scope, services, {
    path: '/jobs',
    lead: 'All that takes long, on every instance: verifications, steps of closings, trial balances of the past, counted draws, rebuilds, and seals. A job whose process is gone has failed after half a minute.',
    list: jobList(jobs),
    async extras() {
      const rows = await jobs.list({ isRunning: true, limit: MAX_RUNNING })
      const running = rows.map(({ job }) => show(job))
      return {
        isUpdating: running.length > 0,
        before: [{ part: { template: '/reports/running-jobs.eta', data: { running } } }, { title: 'All jobs' }],
      }
    },
  })

  addAction(scope, services, {
    path: '/jobs/:id/stop',
    mayFinanceWrite: true,
    fields: {},
    action: (request) => ({
      method: 'POST',
      path: `/jobs/${idOf(request)}/stop`,
      back: '/console/jobs',
      done: 'stop-asked',
    }),
  })
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
      return pagePath('verification', id)
    case 'closing':
      return pagePath('month', subject)
    case 'trial-balance':
      return addressWith('/console/reports/trial-balance', { at: subject })
    case 'draws': {
      const [from, to] = subject.split('-')
      return addressWith('/console/draws', { from, to })
    }
    case 'streamed-verification':
    case 'rebuild':
    case 'seal':
      return undefined
  }
}

const tones: Readonly<Record<Job['state'], Tone>> = {
  running: 'waiting',
  done: 'good',
  stopped: 'neutral',
  failed: 'bad',
}

const jobList = (jobs: Jobs): List<typeof noFilters, Job> => ({
  label: 'Jobs',
  filters: noFilters,
  isOfNow: true,
  empty: 'Nothing that takes long was started yet.',
  columns: [
    column('id', 'Job', ({ id }) => codeCell(String(id))),
    column('what', 'What', whatCell),
    column('state', 'State', ({ state }) => statusCell(state, tones[state])),
    column('result', 'Result', ({ result }) => textCell(result)),
    numberColumn('events', 'Events', ({ progress }) => numberCell(progress.events)),
    numberColumn('of', 'Of', ({ progress }) => numberCell(progress.of)),
    column('started_by', 'Started by', ({ started_by }) => actorCell(started_by)),
    column('started_at', 'Started', ({ started_at }) => timeCell(started_at)),
    column('ended_at', 'Ended', ({ ended_at }) => timeCell(ended_at)),
    column('stopped_by', 'Stopped by', ({ stopped_by }) => actorCell(stopped_by)),
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
