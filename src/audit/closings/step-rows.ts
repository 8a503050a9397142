import { type Kysely, sql } from 'kysely'
import { micros } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { type ClosingStep, closingSteps } from '../../features/closings/closing.ts'
import { type FindingStep, findingId } from '../../features/closings/finding.ts'
import { acknowledgementsOf } from '../../features/closings/reads.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { isRunning } from '../jobs/job-rows.ts'
import { type BegunStep, type FoundByStep, MAX_ROWS, type StepOutcome, type StepState } from './step.ts'

// Rows of `closing_steps`, so that every instance shows the same steps.

/**
 * The eight steps of a month in their order. One without an end, whose job runs no more, is shown as failed, and one that
 * found only what was acknowledged as done.
 */
export async function readSteps(db: Kysely<Tables>, month: string): Promise<readonly StepState[]> {
  const rows = await db
    .selectFrom('closing_steps as s')
    .innerJoin('jobs as j', 'j.job_id', 's.job_id')
    .select(['s.step', 's.job_id', 's.first_position', 's.last_position', 's.kept_in', 's.folder_id', 's.passed'])
    .select(['s.result', 's.files', 's.findings', 's.has_more_findings', 's.error'])
    .select(['j.started_by', 'j.stopped_by', 'j.events_read', 'j.events_total'])
    .select([
      micros('s.started_at').as('started'),
      micros('coalesce(s.ended_at, j.heartbeat_at)').as('heard'),
      sql<boolean>`s.ended_at is not null`.as('has_ended'),
      isRunning.as('is_running'),
    ])
    .where('s.month', '=', month)
    .orderBy('s.started_at')
    .execute()
  const found = new Map(rows.map(({ step, findings }): [string, FoundByStep[]] => [step, JSON.parse(findings)]))
  const acknowledged = await acknowledgementsOf(
    db,
    [...found.values()].flat().map(({ finding }) => finding),
  )
  return closingSteps.map((step): StepState => {
    const row = rows.find((one) => one.step === step)
    if (row === undefined) return { step, state: 'waiting' }
    const findings = (found.get(step) ?? []).map((one) => ({
      ...one,
      acknowledged: acknowledged.get(one.finding) ?? null,
    }))
    const isAcknowledged =
      findings.length > 0 && !row.has_more_findings && findings.every((one) => one.acknowledged !== null)
    const isLost = !row.has_ended && !row.is_running
    const { job_id, events_read: events, events_total: of } = row
    return {
      step,
      state: !row.has_ended && row.is_running ? 'running' : row.passed || isAcknowledged ? 'done' : 'failed',
      findings,
      job_id,
      made_by: row.started_by,
      started_at: isoMicros(row.started),
      heartbeat_at: isoMicros(row.heard),
      first: row.first_position,
      last: row.last_position,
      progress: row.has_ended || of === 0 ? null : { events, of },
      // The job's other steps had ended before.
      stopped_by: rows.findLast((one) => one.job_id === job_id) === row ? row.stopped_by : null,
      kept_in: row.kept_in,
      folder_id: row.folder_id,
      result: row.result === null ? null : JSON.parse(row.result),
      files: JSON.parse(row.files),
      error: isLost ? 'it was interrupted' : row.error,
    }
  })
}

export async function readStep(db: Kysely<Tables>, month: string, step: ClosingStep): Promise<StepState> {
  const found = (await readSteps(db, month)).find((one) => one.step === step)
  return found ?? { step, state: 'waiting' }
}

/** A run of a step. The caller holds the lock of the month. */
interface StepRun extends Readonly<Pick<BegunStep, 'step' | 'job_id' | 'first' | 'last' | 'kept_in' | 'folder_id'>> {
  readonly month: string
}

/** Replaces what the step came to before. */
export async function beginStep(db: Kysely<Tables>, run: StepRun): Promise<void> {
  const { month, step, job_id, first, last, kept_in, folder_id } = run
  await db.transaction().execute(async (transaction) => {
    await sql`delete from closing_steps where month = ${month} and step = ${step}`.execute(transaction)
    await sql`
      insert into closing_steps (month, step, job_id, first_position, last_position, kept_in, folder_id)
      values (${month}, ${step}, ${job_id}, ${first}, ${last}, ${kept_in}, ${folder_id})`.execute(transaction)
  })
}

/** Writes what a step came to: an outcome, or why it came to none. */
export async function endStep(
  db: Kysely<Tables>,
  { month, step, job_id }: StepRun,
  outcome: StepOutcome | { readonly error: string },
): Promise<void> {
  const { passed, result, files, findings, hasMoreFindings, error }: Partial<StepOutcome> & { error?: string } = outcome
  await sql`
    update closing_steps
    set ended_at = clock_timestamp(), passed = ${passed ?? false}, error = ${error ?? null},
        result = ${result === undefined ? null : JSON.stringify(result)}, files = ${JSON.stringify(files ?? [])},
        findings = ${JSON.stringify(findings ?? [])}, has_more_findings = ${hasMoreFindings ?? false}
    where month = ${month} and step = ${step} and job_id = ${job_id} and ended_at is null`.execute(db)
}

/**
 * What a step finds: all that was acknowledged, and the first others, so that these can be acknowledged in turn. Findings
 * with one id are one, whose message is that of the first.
 */
export class StepFindings {
  readonly #step: FindingStep
  readonly #acknowledged: ReadonlySet<string>
  readonly #found = new Map<string, FoundByStep>()
  #open = 0
  #hasMore = false

  private constructor(step: FindingStep, acknowledged: ReadonlySet<string>) {
    this.#step = step
    this.#acknowledged = acknowledged
  }

  static async of(step: FindingStep, db: Kysely<Tables>): Promise<StepFindings> {
    const rows = await db.selectFrom('finding_acknowledgements').select('finding').where('step', '=', step).execute()
    return new StepFindings(step, new Set(rows.map(({ finding }) => finding)))
  }

  /** `subject`: the position of an event, an account, or a row of a table. Answers whether it was acknowledged. */
  add(kind: string, subject: string, message: string): boolean {
    const finding = findingId(this.#step, kind, subject)
    const isAcknowledged = this.#acknowledged.has(finding)
    if (this.#found.has(finding)) return isAcknowledged
    if (!isAcknowledged && this.#open === MAX_ROWS) this.#hasMore = true
    else {
      this.#found.set(finding, { finding, kind, subject, message })
      if (!isAcknowledged) this.#open += 1
    }
    return isAcknowledged
  }

  /** Listed findings that nobody acknowledged. */
  get open(): number {
    return this.#open
  }

  /** How many there are more than listed is not known, when a report ended before. */
  endEarly(): void {
    this.#hasMore = true
  }

  get outcome(): Pick<StepOutcome, 'passed' | 'findings' | 'hasMoreFindings'> {
    return { passed: this.#found.size === 0, findings: [...this.#found.values()], hasMoreFindings: this.#hasMore }
  }
}
