import type { Verdict } from '../../features/fairness/verdict.ts'
import type { Table } from '../lists/list.ts'
import { type Cell, sentenceCase } from './cells/cells.ts'

/** One step of a draw: what it took, what it gave, and whether that can be computed again. */
export interface ProofStep {
  readonly title: string
  /** Null where there is nothing to check. */
  readonly ok: boolean | null
  /** What was checked, and what came out. */
  readonly why: string
  /** Values, each with a link to the event that has it. */
  readonly facts: readonly (readonly [string, Cell])[]
  /** Text that is hashed, to the letter. */
  readonly text?: string
  readonly table?: Table
}

/** What a verdict says of one of its steps; not right where it has no such step. */
export function checkedStep({ steps }: Verdict, name: string): Pick<ProofStep, 'ok' | 'why'> {
  const found = steps.find(({ step }) => step === name)
  return found === undefined ? { ok: false, why: '' } : { ok: found.ok, why: `${sentenceCase(found.why)}.` }
}
