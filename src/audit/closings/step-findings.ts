import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { type FindingStep, findingId } from '../../features/closings/finding.ts'
import { MAX_ROWS } from './step-state.ts'
import type { FoundByStep, StepOutcome } from './step-task.ts'

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

  /** Those that nobody acknowledged, of those that are listed. */
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
