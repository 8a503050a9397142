import type { AcknowledgedFinding } from '../../../schema/events.ts'
import type { StepFinding, StepResult, StepState } from '../../audit/closings/step.ts'
import type { ClosingStep } from '../../features/closings/closing.ts'
import { mayBeAcknowledged, positionIn } from '../../features/closings/finding.ts'
import { isAccount } from '../../ledger/rules/account.ts'
import {
  type Cell,
  codeCell,
  formatWord,
  numberCell,
  sentenceCase,
  statusCell,
  type Tone,
  textCell,
  timeCell,
  wordCell,
} from '../layout/cells.ts'
import { accountCell, actorCell, eventCell, pagePath, rowPath, userPath } from '../layout/links.ts'
import { numberPart, part, partTable, type Table } from '../lists/list.ts'
import { formatProgress } from './jobs.ts'
import { monthPath } from './months.ts'

/** How far a running step is. */
export interface StepProgress {
  readonly id: string
  readonly href: string
  /** Null before it has read anything. */
  readonly events: { readonly done: number; readonly of: number } | null
  /** `12,000 of 48,000 events, 9,000 a second, 4 s left` */
  readonly text: string
}

/** A finding of a step, and what can be done about it. */
interface FindingView {
  /** Its id. */
  readonly finding: string
  readonly kind: string
  readonly subject: Cell
  readonly message: string
  /** Who acknowledged it and why; null while nobody did. */
  readonly acknowledged: { readonly by: Cell; readonly event: Cell; readonly reason: string } | null
  /** False for a wrong hash, and for a table that differs from the ledger. */
  readonly mayBeAcknowledged: boolean
}

/** A step of a closing as its template shows it. */
export interface StepView {
  readonly step: ClosingStep
  readonly title: string
  /** What it does, in a sentence. */
  readonly what: string
  readonly status: Cell
  /** Null unless it is running. */
  readonly progress: StepProgress | null
  readonly facts: readonly (readonly [string, Cell])[]
  /** What it found, or why it failed; null before it ended. */
  readonly summary: string | null
  readonly findings: readonly FindingView[]
  readonly table: Table | null
  /** Rows that are only in its files. */
  readonly more: number
  readonly files: Table | null
  /** It was run when the month's books were others. */
  readonly isOutdated: boolean
  readonly isDone: boolean
}

const sentences: Readonly<Record<ClosingStep, string>> = {
  verify: 'Reads every event and every table, and compares the ledger with the checkpoint of the closing before.',
  'trial-balance': 'Adds up every account as of the end of the month: each currency must sum to zero.',
  'house-accounts': 'Lists what the platform took in, paid out and issued in the month.',
  'open-withdrawals': 'Lists the requests that were pending or approved when the month ended: what was still owed.',
  exceptions:
    'Lists what staff moved or granted with its reason; one without a reason, or an overdrawn account, is a finding.',
  export: 'Writes postings and events of the month as files for spreadsheets and hledger, with a signed manifest.',
  draws: 'Computes every draw and spin up to the end of the month again, and compares them with what was published.',
  checkpoint: 'Signs the hash of the last event of the month, from which the next closing begins.',
}

export const stepTitle = (step: ClosingStep): string => sentenceCase(formatWord(step))

const tones: Readonly<Record<StepState['state'], Tone>> = {
  waiting: 'neutral',
  running: 'waiting',
  done: 'good',
  failed: 'bad',
}

interface ShownSteps {
  readonly month: string
  /** The positions that steps must be made of. */
  readonly first: number
  readonly last: number
  /** The steps that will run when the running one has ended. */
  readonly queued: readonly ClosingStep[]
  /** The files of all steps. */
  readonly files: readonly ShownFile[]
}

/** Whether a step was run, of the positions that it must be made of, and found nothing wrong. */
export const isDone = (state: StepState, { first, last }: Pick<ShownSteps, 'first' | 'last'>): boolean =>
  state.state === 'done' && state.first === first && state.last === last

export function showStep(state: StepState, shownSteps: ShownSteps): StepView {
  const { month, first, last, queued } = shownSteps
  const { step } = state
  const shown = { step, title: stepTitle(step), what: sentences[step] }
  if (state.state === 'waiting' || (state.state !== 'running' && queued.includes(step))) {
    const status = queued.includes(step) ? statusCell('runs next', 'waiting') : statusCell('waiting')
    const none = { progress: null, facts: [], summary: null, findings: [], table: null, more: 0, files: null }
    return { ...shown, ...none, status, isOutdated: false, isDone: false }
  }
  const { result, error } = state
  const files = shownSteps.files.filter(({ name }) => state.files.some((file) => file.name === name))
  const isOutdated = state.state !== 'running' && (state.first !== first || state.last !== last)
  return {
    ...shown,
    status: isOutdated ? statusCell('outdated', 'bad') : statusCell(state.state, tones[state.state]),
    progress: showProgress(month, state),
    facts: [
      ['Run by', actorCell(state.made_by)],
      ['Started', timeCell(state.started_at)],
      ...(state.state === 'running' ? [] : [['Ended', timeCell(state.heartbeat_at)] as const]),
      ...(state.stopped_by === null ? [] : [['Stopped by', actorCell(state.stopped_by)] as const]),
    ],
    summary: result?.summary ?? error,
    findings: state.findings.map((finding) => showFinding(step, finding)),
    table: result === null || result.rows.length === 0 ? null : showResult(shown.title, result),
    more: result?.more ?? 0,
    files: files.length === 0 ? null : showFiles(month, `Files of ${shown.title.toLowerCase()}`, files),
    isOutdated,
    isDone: isDone(state, shownSteps),
  }
}

const showFinding = (
  step: ClosingStep,
  { finding, kind, subject, message, acknowledged }: StepFinding,
): FindingView => ({
  finding,
  kind: sentenceCase(formatWord(kind)),
  subject: findingSubjectCell(subject),
  message,
  acknowledged: acknowledged && {
    by: actorCell(acknowledged.acknowledged_by),
    event: eventCell(acknowledged.id),
    reason: acknowledged.reason,
  },
  mayBeAcknowledged: mayBeAcknowledged(step, kind),
})

/** The position of an event, an account, or a row. */
function findingSubjectCell(subject: string): Cell {
  const position = positionIn(subject)
  if (position !== null) return eventCell(position)
  return isAccount(subject) ? accountCell(subject) : codeCell(subject)
}

/** Findings that were acknowledged, of this month or earlier ones. */
export const showAcknowledged = (label: string, acknowledged: readonly AcknowledgedFinding[]): Table =>
  partTable<AcknowledgedFinding>({
    label,
    empty: 'None.',
    rows: acknowledged,
    columns: [
      part('Month', ({ month }) => codeCell(month, monthPath(month))),
      part('Step', ({ step }) => wordCell(step)),
      part('Finding', ({ kind }) => wordCell(kind)),
      part('About', ({ subject }) => findingSubjectCell(subject)),
      part('Acknowledged by', ({ acknowledged_by }) => actorCell(acknowledged_by)),
      part('Reason', ({ reason }) => textCell(reason)),
      numberPart('Event', ({ id }) => eventCell(id)),
    ],
  })

/** Null unless the step is running. */
export function showProgress(month: string, state: StepState): StepProgress | null {
  if (state.state !== 'running') return null
  const { step, progress, started_at, heartbeat_at } = state
  const shown = { id: `progress-${step}`, href: `${monthPath(month)}/steps/${step}/progress` }
  if (progress === null || progress.of === 0) return { ...shown, events: null, text: 'Running' }
  const { events, of } = progress
  const rate = Math.round((events * 1_000) / Math.max(1, Date.parse(heartbeat_at) - Date.parse(started_at)))
  const text =
    rate === 0
      ? formatProgress({ progress, rate: null, seconds_left: null })
      : formatProgress({ progress, rate, seconds_left: Math.max(0, of - events) / rate })
  return { ...shown, events: { done: events, of }, text }
}

/** Columns of results that hold amounts or counts. */
const numberColumns = ['opening', 'debits', 'credits', 'closing', 'balance', 'accounts', 'amount', 'bytes']

/** Columns whose names are not what people read. */
const columnTitles: Readonly<Record<string, string>> = {
  position: 'Event',
  at: 'Time',
  sha256: 'SHA-256',
  requested_at: 'Requested',
  target: 'To',
}

const showResult = (title: string, { columns, rows }: StepResult): Table =>
  partTable<readonly string[]>({
    label: `Result of ${title.toLowerCase()}`,
    empty: '',
    rows,
    columns: columns.map((column, index) => ({
      title: columnTitles[column] ?? sentenceCase(formatWord(column)),
      isNumber: numberColumns.includes(column),
      cell: (row) => resultCell(column, row[index] ?? '', row[columns.indexOf('table')]),
    })),
  })

/** A text of a result, with the page that it leads to. An `id` is that of a row of `table`. */
function resultCell(column: string, text: string, table = ''): Cell {
  if (text === '') return textCell(null)
  if (numberColumns.includes(column)) return { kind: 'number', text: text.replace(/^-/, '\u2212'), value: text }
  switch (column) {
    case 'currency':
      return wordCell(text)
    case 'position':
      return eventCell(Number(text))
    case 'id':
      return codeCell(text, rowPath(table, text))
    case 'account':
      return isAccount(text) ? accountCell(text) : codeCell(text)
    case 'by':
    case 'approved_by':
      return actorCell(text)
    case 'about':
      return subjectCell(text)
    case 'what':
      return wordCell(text)
    case 'withdrawal':
      return codeCell(text, pagePath('withdrawal', text))
    case 'user':
    case 'target':
      return codeCell(text, userPath(Number(text)))
    case 'at':
    case 'requested_at':
      return timeCell(text)
    case 'status':
      return statusCell(text)
    case 'sha256':
    case 'hash':
    case 'file':
    case 'table':
      return codeCell(text)
    default:
      return textCell(text)
  }
}

/** An account, `withdrawal 38` or `user 3`. */
function subjectCell(text: string): Cell {
  if (isAccount(text)) return accountCell(text)
  const [kind, id = ''] = text.split(' ')
  return textCell(text, kind === 'withdrawal' ? pagePath('withdrawal', id) : userPath(Number(id)))
}

/** A file of a step, as its table shows it. */
export interface ShownFile {
  readonly name: string
  readonly sha256: string
  /** Undefined for a file that is missing. */
  readonly bytes: number | undefined
  /** The host and the folder of a file that is not in the folder of this instance; null for others. */
  readonly keptIn: string | null
}

/** Whether the page leads to it. */
export const isHere = ({ bytes, keptIn }: ShownFile): boolean => bytes !== undefined && keptIn === null

/** Files that can be downloaded, if they are in the folder of this instance. */
export const showFiles = (month: string, label: string, files: readonly ShownFile[]): Table =>
  partTable<ShownFile>({
    label,
    empty: 'No files.',
    rows: files,
    columns: [
      part('File', (file) => {
        const { name } = file
        return codeCell(name, isHere(file) ? `${monthPath(month)}/files/${encodeURIComponent(name)}` : undefined)
      }),
      numberPart('Bytes', ({ bytes }) => numberCell(bytes)),
      part('SHA-256', ({ sha256 }) => codeCell(sha256)),
      ...(files.some(({ keptIn }) => keptIn !== null)
        ? [part<ShownFile>('On another instance', ({ keptIn }) => codeCell(keptIn))]
        : []),
    ],
  })
