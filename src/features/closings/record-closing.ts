import type { ClosingCheckpoint, ClosingFile, EventData } from '../../../schema/events.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import {
  type Closing,
  type ClosingStep,
  closingSteps,
  closings,
  LEDGER,
  lastClosings,
  monthRefusal,
  STEPS_RUNNING,
} from './closing.ts'
import { acknowledgedFinding, acknowledgements } from './finding.ts'
import { seals } from './seal.ts'

/** What the service read of the steps of a closing, their files and the ledger; nothing of it comes from a client. */
export interface RecordClosing {
  /** `2026-10` */
  readonly month: string
  /** The last position of the month as the ledger has it; 0 when the ledger began later. */
  readonly position: number
  /** The ledger's hash at that position; null before its first event. */
  readonly hash: string | null
  /** Whether a step is running, which may be writing the files. */
  readonly running: boolean
  /** The positions that the files were made of. */
  readonly covered: { readonly first: number; readonly last: number }
  readonly done: readonly string[]
  readonly failed: readonly string[]
  /** The ids of what the steps found. */
  readonly findings: readonly string[]
  /** Whether every file has the SHA-256 that it was made with. */
  readonly unchanged: boolean
  readonly files: readonly ClosingFile[]
  readonly checkpoint: ClosingCheckpoint | null
  /** Of the snapshot that was made at that position; null without one. */
  readonly sealed: Pick<EventData<'ledger-sealed'>, 'tables' | 'signature'> | null
}

const refusals = [
  'month_closed',
  'month_not_over',
  'month_out_of_order',
  'month_before_ledger',
  STEPS_RUNNING,
  'closing_step_failed',
  'closing_incomplete',
  'closing_outdated',
] as const

/** Records that a month was closed, with the files that were made of it, and its seal. Months are closed in order, each once. */
export const recordClosing: Verb<RecordClosing, Closing, typeof refusals> = {
  refusals,
  reads: ({ month, position, findings }) => [
    keyOf(closings, month),
    keyOf(lastClosings, LEDGER),
    keyOf(seals, position),
    ...findings.map((finding) => keyOf(acknowledgements, finding)),
  ],

  decide(state, input, { now }) {
    const { month, position, hash, running, covered, done, failed, findings, unchanged, files, checkpoint, sealed } =
      input
    const last = state.get(lastClosings, LEDGER) ?? null
    const refusal = monthRefusal(month, { closed: state.get(closings, month) !== undefined, last, now, position })
    if (refusal !== null) return refuse(refusal)
    if (running) return refuse(STEPS_RUNNING)
    const acknowledged = findings
      .flatMap((finding) => state.get(acknowledgements, finding) ?? [])
      .map(acknowledgedFinding)
    if (failed.length > 0 || acknowledged.length < findings.length) return refuse('closing_step_failed')
    if (!closingSteps.every((step: ClosingStep) => done.includes(step))) return refuse('closing_incomplete')
    // Positions alone would also be those of a ledger that was restored or rewritten since.
    if (checkpoint === null || checkpoint.position !== position || checkpoint.hash !== hash) {
      return refuse('closing_outdated')
    }
    const isOfThesePositions = covered.first === (last?.last_position ?? 0) + 1 && covered.last === position
    if (!isOfThesePositions || !unchanged) return refuse('closing_outdated')
    const data = { month, position, files: [...files], checkpoint, acknowledged }
    const closed: LedgerEvent = { type: 'month-closed', data, movements: [] }
    if (sealed === null || state.get(seals, String(position)) !== undefined) return [closed]
    return [
      closed,
      {
        type: 'ledger-sealed',
        data: { position, tables: sealed.tables, checkpoint, signature: sealed.signature },
        movements: [],
      },
    ]
  },

  result(state, { month }) {
    const closing = state.get(closings, month)
    if (closing === undefined) throw new Error(`${month} was not closed`)
    return closing
  },
}
