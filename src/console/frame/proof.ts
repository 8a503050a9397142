import type { Table } from '../lists/list.ts'
import type { Cell } from './cells.ts'

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
