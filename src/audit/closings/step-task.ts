import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { ClosingStep } from '../../features/closings/closing.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Progress } from '../ledger-scan.ts'
import type { QueryContext } from '../reports/query-context.ts'
import type { MonthBooks } from './month-books.ts'
import type { MonthLock } from './month-lock.ts'
import type { MadeFile, StepFinding, StepResult } from './step-state.ts'

/** The steps that read many events, and so run in the audit worker. */
export type WorkedStep = Exclude<ClosingStep, 'verify' | 'checkpoint'>

export type FoundByStep = Omit<StepFinding, 'acknowledged'>

/** What a step is made of; can be sent to a worker. */
export interface StepTask {
  readonly url: string
  readonly month: string
  /** Positions; `last` = `first` - 1 where nothing happened. */
  readonly first: number
  readonly last: number
  readonly folder: string
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
}

export type StepWork = (task: StepTask, db: Kysely<Tables>, context: QueryContext) => Promise<StepOutcome>
