import type { Kysely } from 'kysely'
import type { AcknowledgedFinding } from '../../../schema/events.ts'
import type { Tables } from '../../db/tables.ts'
import type { ClosingStep } from '../../features/closings/closing.ts'
import type { CheckpointSigner } from '../checkpoint.ts'
import type { Progress } from '../jobs/job-rows.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { AccountTotals } from '../reports/account-totals.ts'
import type { QueryContext } from '../reports/query-context.ts'
import type { DrawReport } from '../verify/draws/draw-counts.ts'
import type { MadeFile } from './files.ts'
import type { MonthBooks } from './month-books.ts'
import type { MonthLock } from './month-lock.ts'

/** What a step says: a sentence, and a table with at most `MAX_ROWS` rows, as the rest is in its file. */
export interface StepResult {
  readonly summary: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Rows that are left out. */
  readonly more: number
}

/** What a step found; `subject` is the position of an event, an account, or a row of a table. */
export interface StepFinding {
  /** Its id. */
  readonly finding: string
  readonly kind: string
  readonly subject: string
  readonly message: string
  /** Null while nobody acknowledged it, in any month. */
  readonly acknowledged: AcknowledgedFinding | null
}

/** A step that was begun. */
export interface BegunStep {
  readonly step: ClosingStep
  /** `failed`: it did not come to its end, or found what nobody acknowledged. */
  readonly state: 'running' | 'done' | 'failed'
  readonly made_by: string
  /** ISO 8601, UTC. */
  readonly started_at: string
  /** The last sign of life while it runs; then its end. */
  readonly heartbeat_at: string
  /** The positions that it was made of. */
  readonly first: number
  readonly last: number
  readonly progress: Progress | null
  /** The job that ran it. */
  readonly job_id: number
  /** Who asked for its end; null when nobody did. */
  readonly stopped_by: string | null
  /** The host and the folder that have its files: `host-a:/data/closings/2026-10`. */
  readonly kept_in: string
  /** The id of the folder of closings that has its files. */
  readonly folder_id: string
  readonly result: StepResult | null
  /** Findings that were acknowledged before, and the first others. */
  readonly findings: readonly StepFinding[]
  readonly files: readonly MadeFile[]
  /** Why it did not come to an end. */
  readonly error: string | null
}

/** A step of a closing; `waiting` before it was run. */
export type StepState = { readonly step: ClosingStep; readonly state: 'waiting' } | BegunStep

/** A page shows the tables of all eight steps, and is to stay small. */
export const MAX_ROWS = 50

/** What the step `verify` found, and the snapshot that it wrote. */
export const VERIFICATION_FILE = 'verification.json'

/** A table of a result, of which the first rows are kept. */
export const tableOf = (
  summary: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): StepResult => ({ summary, columns, rows: rows.slice(0, MAX_ROWS), more: Math.max(0, rows.length - MAX_ROWS) })

/** The steps that read many events, and so run in a thread. */
export type WorkedStep = Exclude<ClosingStep, 'verify' | 'checkpoint'>

export type FoundByStep = Omit<StepFinding, 'acknowledged'>

/** The accounts that steps show one by one: few of all. */
export interface ListedAccounts {
  readonly house: readonly AccountTotals[]
  readonly overdrawn: readonly AccountTotals[]
}

/** What steps of a job found out that later ones need not read the ledger for; can be sent to a thread. */
export interface KnownBySteps {
  readonly draws?: DrawReport
  readonly accounts?: ListedAccounts
}

/** What a step is made of; can be sent to a thread. */
export interface StepTask {
  readonly url: string
  readonly month: string
  /** Positions; `last` = `first` - 1 where nothing happened. */
  readonly first: number
  readonly last: number
  readonly folder: string
  /** As in `ClosingParts`. */
  readonly sealsFolder: string | undefined
  readonly known: KnownBySteps
}

/** What the steps of any month are made with. */
export interface ClosingParts {
  /** Runs the steps, and the verification of one. */
  readonly jobs: Jobs
  /** The primary, and the same through Kysely. */
  readonly url: string
  readonly db: Kysely<Tables>
  readonly signer: CheckpointSigner
  /** Decrypts the records of the vault. */
  readonly piiKey: string | null
  readonly closingsFolder: string
  /** The folder of snapshots of seals, at which steps begin. Left out: they begin at position 1. */
  readonly sealsFolder?: string
}

export interface StepOptions extends Omit<ClosingParts, 'closingsFolder'> {
  /** Read while `lock` was held. */
  readonly books: MonthBooks
  /** The lock of the month. */
  readonly lock: Pick<MonthLock, 'lost'>
  /** The month's own folder; it is created. */
  readonly folder: string
  /** `staff:ann` */
  readonly madeBy: string
  readonly known: KnownBySteps
  /** Ends the step, which then has failed. */
  readonly signal: AbortSignal
  readonly progress: (progress: Progress) => void
}

/** What a step made. */
export interface StepOutcome {
  /** False when it found something, also what was acknowledged. */
  readonly passed: boolean
  readonly result: StepResult
  /** Left out by a step that has no findings with ids. */
  readonly findings?: readonly FoundByStep[]
  /** Whether there are findings that are neither listed nor acknowledged. Default: no. */
  readonly hasMoreFindings?: boolean
  readonly files: readonly MadeFile[]
  /** For later steps of the job. */
  readonly known?: KnownBySteps
}

export type StepWork = (task: StepTask, db: Kysely<Tables>, context: QueryContext) => Promise<StepOutcome>
