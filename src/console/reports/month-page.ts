import type { AcknowledgedFinding } from '../../../schema/events.ts'
import { findClosingFile, readFolderId } from '../../audit/closings/files.ts'
import type { MonthBooks } from '../../audit/closings/month-books.ts'
import type { StepState } from '../../audit/closings/step.ts'
import type { StepsJob } from '../../audit/closings/steps-job.ts'
import { nextMonth } from '../../features/closings/closing.ts'
import { type Cell, codeCell, type Facts, textCell, timeCell } from '../layout/cells.ts'
import { actorCell, eventCell } from '../layout/links.ts'
import type { Section, SectionsPage } from '../layout/page.ts'
import { closesFrom, eventsOf, monthPath } from './months.ts'
import { type ShownFile, type StepView, showAcknowledged, showFiles, showStep, stepTitle } from './step-view.ts'

/** A month as it is now. */
export interface ReadMonth {
  readonly books: MonthBooks
  readonly states: readonly StepState[]
  /** The job that runs steps of it; null for none. */
  readonly job: StepsJob | null
  readonly folder: string
}

/** The steps of a month as their template shows them. */
interface ShownMonth {
  readonly path: string
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

/** What would be recorded, and the form that does it. */
export function recordPage({ books, states, folder }: ReadMonth): SectionsPage {
  const { month, hash } = books
  const path = monthPath(month)
  const findings = acknowledgedIn(states)
  return {
    title: `Close ${month} for good?`,
    sections: [
      {
        note: `Nothing is recorded yet. What is recorded cannot be taken back: ${nextMonth(month)} begins where this month ends.`,
        facts: [...factsOf(books), ['Its hash', codeCell(hash)]],
      },
      {
        title: 'What would be recorded',
        text: 'Your name, the time, the last position of the month, the SHA-256 of each of these files, and the checkpoint.',
        table: showFiles(month, 'Files to be recorded', filesOf(states, folder)),
      },
      findings.length === 0
        ? null
        : {
            text: 'What the steps found, and who acknowledged it:',
            table: showAcknowledged('Acknowledged findings to be recorded', findings),
          },
      { form: { method: 'post', action: `${path}/record`, button: 'Record the closing' } },
      { text: [{ href: path, text: 'Leave without recording it' }] },
    ],
  }
}

/** What was recorded. */
export function recordedSections(
  month: string,
  closing: NonNullable<MonthBooks['closing']>,
  made: readonly ShownFile[],
): readonly (Section | null)[] {
  const next = nextMonth(month)
  const files = showFiles(month, 'Recorded files', recordedFiles(closing, made))
  return [
    {
      title: 'Recorded',
      done: `${month} is closed, and can be proved: the SHA-256 of ${files.rows.length} files is in event ${closing.id} of the ledger, with a signed checkpoint of its last event.`,
      text: [
        'The SHA-256 of a file can be compared with the list below. ',
        codeCell('npm run -s audit -- verify-export manifest.json'),
        ' compares the whole export with the ledger. ',
        { href: monthPath(next), text: next },
        ' begins from it, and its verification compares the ledger with this checkpoint.',
      ],
      facts: [
        ['Closed by', actorCell(closing.closed_by)],
        ['Closed', timeCell(closing.closed_at)],
        ['Its event', eventCell(closing.id)],
        ['Last event of the month', eventCell(closing.position)],
        ['Checkpoint signed', timeCell(closing.checkpoint.at)],
        ['Checkpoint’s hash', codeCell(closing.checkpoint.hash)],
      ],
      table: files,
    },
    acknowledgedSection('Acknowledged findings', closing.acknowledged, 3),
  ]
}

export const acknowledgedSection = (
  title: string,
  acknowledged: readonly AcknowledgedFinding[],
  level: 2 | 3 = 2,
): Section | null => (acknowledged.length === 0 ? null : { title, level, table: showAcknowledged(title, acknowledged) })

/** Steps, and the way to the closing once all are done; nothing of a month that cannot be closed. */
export function stepSections({ closing }: MonthBooks, shown: ShownMonth): readonly Section[] {
  const { path, steps, mayRun, left } = shown
  if (steps.length === 0) return []
  const review: Section =
    left.length > 0
      ? { note: `The closing can be recorded when all steps are done. Left: ${left.join(', ')}.` }
      : !mayRun
        ? {}
        : {
            text: 'All steps are done. Recording writes who closed the month, when, its last position, the SHA-256 of each file and the checkpoint to the ledger.',
            form: { method: 'get', action: `${path}/record`, button: 'Review the closing' },
          }
  const shownSteps: Section = { title: 'Steps', part: { template: '/reports/steps.eta', data: shown } }
  return closing === null ? [shownSteps, { title: 'Record the closing', ...review }] : [shownSteps]
}

export function showMonth({ books, states, job, folder }: ReadMonth): ShownMonth {
  const { month, refusal } = books
  const isUntouched = states.every(({ state }) => state === 'waiting')
  const begun = states.flatMap((one) => (one.state !== 'waiting' && one.job_id === job?.id ? [one.step] : []))
  const queued = job?.steps.filter((step) => !begun.includes(step)) ?? []
  const files = filesOf(states, folder)
  const steps = states.map((state) => showStep(state, { ...books, queued, files }))
  return {
    path: monthPath(month),
    // A month that cannot be closed shows no steps.
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

/** The files that steps made, and where those are that are not in this instance's folder. */
export function filesOf(states: readonly StepState[], folder: string): readonly ShownFile[] {
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
export const recordedFiles = (
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
export function isNextToClose({ month, previous }: MonthBooks): boolean {
  return previous === null ? month <= new Date().toISOString().slice(0, 7) : month === nextMonth(previous.month)
}

export const factsOf = ({ first, last, first_at, last_at, previous }: MonthBooks): Facts => [
  ['Covers events', textCell(eventsOf(first, last))],
  ['First event', timeCell(first_at)],
  ['Last event', timeCell(last_at)],
  ['Begins after', previous === null ? textCell('the start of the ledger') : previousCell(previous)],
]

const previousCell = ({ month, position }: NonNullable<MonthBooks['previous']>): Cell =>
  textCell(`the closing of ${month}, event ${position}`, monthPath(month))

/** Why a month cannot be closed, and what to do; null when it can, or is closed. */
export function noticeOf({ month, previous, closing, refusal }: MonthBooks): string | null {
  if (refusal === null || closing !== null) return null
  const why = refusal.message.en
  if (month >= new Date().toISOString().slice(0, 7)) {
    return `${why} It can be closed from ${closesFrom(month)} on. Until then, the trial balance and a verification show whether the books are right.`
  }
  const next = previous && nextMonth(previous.month)
  return next === null || month <= next ? why : `${why} That is ${next}.`
}
