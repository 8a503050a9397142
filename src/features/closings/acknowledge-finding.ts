import { keyOf } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { type Acknowledgement, acknowledgements } from './acknowledgement.ts'
import { closings } from './closing.ts'
import { mayBeAcknowledged } from './closing-finding.ts'
import { closingMessages } from './messages.ts'

export interface AcknowledgeFinding {
  /** `2026-10` */
  readonly month: string
  readonly finding: string
  readonly reason: string
  /** What the steps of the month found under this id; null for nothing. */
  readonly found: {
    readonly step: string
    readonly kind: string
    readonly subject: string
    /** Whether the caller is actor, maker or approver of the event that it names. */
    readonly is_own: boolean
  } | null
}

const refusals = [
  'own_finding',
  'month_closed',
  'validation_failed',
  'finding_not_acknowledgeable',
  'already_acknowledged',
] as const

/** Puts on the ledger why a finding stops no closing, neither this month's nor a later one. Moves nothing. */
export const acknowledgeFinding: Verb<AcknowledgeFinding, Acknowledgement, typeof refusals> = {
  refusals,
  reads: ({ month, finding }) => [keyOf(closings, month), keyOf(acknowledgements, finding)],

  decide(state, { month, finding, reason, found }, { actor }) {
    if (found?.is_own === true) return refuse('own_finding')
    if (state.get(closings, month) !== undefined) return refuse('month_closed')
    if (found === null) return refuse('validation_failed', { finding: [closingMessages.unknown_finding] })
    const { step, kind, subject } = found
    if (!mayBeAcknowledged(step, kind)) return refuse('finding_not_acknowledgeable')
    if (state.get(acknowledgements, finding) !== undefined) return refuse('already_acknowledged')
    const data = { finding, step, kind, subject, month, acknowledged_by: actor, reason }
    return [{ type: 'finding-acknowledged', data, movements: [] }]
  },

  result(state, { finding }) {
    const acknowledgement = state.get(acknowledgements, finding)
    if (acknowledgement === undefined) throw new Error(`${finding} was not acknowledged`)
    return acknowledgement
  },
}
