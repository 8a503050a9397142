import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import type { ClosingStep } from '../../features/closings/books.ts'
import type { QueryContext } from '../reports/query-context.ts'
import type { MadeFile, StepResult } from './step-state.ts'

/** The steps that read many events, and so run in the audit worker. */
export type WorkedStep = Exclude<ClosingStep, 'verify' | 'checkpoint'>

/** What a step is made of; can be sent to a worker. */
export interface StepTask {
  readonly url: string
  readonly month: string
  /** Positions; `last` = `first` - 1 where nothing happened. */
  readonly first: number
  readonly last: number
  readonly folder: string
}

/** What a step made. With `passed` false it found something that has to be mended. */
export interface StepOutcome {
  readonly passed: boolean
  readonly result: StepResult
  readonly files: readonly MadeFile[]
}

export type StepWork = (task: StepTask, db: Kysely<Tables>, context: QueryContext) => Promise<StepOutcome>
