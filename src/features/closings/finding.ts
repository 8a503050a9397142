import type { AcknowledgedFinding } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { sha256 } from '../../ledger/rules/hash.ts'
import { integer, keyOf, micros, projection, type RowOf, text } from '../../ledger/rules/projection.ts'
import { hasValues } from '../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { type ClosingStep, closings } from './closing.ts'

/** Findings that operators acknowledged: they stop no closing any more. */
export const acknowledgements = projection('finding_acknowledgements', {
  finding: text(),
  /** The position of its event. */
  acknowledgement_id: integer(),
  step: text(),
  kind: text(),
  subject: text(),
  /** The month whose closing it stopped. */
  month: text(),
  acknowledged_by: text(),
  reason: text(),
  acknowledged_at: micros(),
})

type Acknowledgement = RowOf<typeof acknowledgements>

/** As closings and answers list it: without its time. */
export const acknowledgedFinding = ({
  acknowledgement_id: id,
  acknowledged_at: _at,
  ...finding
}: Omit<Acknowledgement, 'acknowledged_at'> & { readonly acknowledged_at: unknown }): AcknowledgedFinding => ({
  id,
  ...finding,
})

export const evolveAcknowledgements: Evolver = {
  'finding-acknowledged': (state, { data, position, at }) => {
    const { finding, step, kind, subject, month } = data
    if (finding !== findingId(step, kind, subject))
      throw new Error(`${finding} is not the id of ${step} ${kind} ${subject}`)
    if (!mayBeAcknowledged(step, kind)) throw new Error(`a finding of ${kind} cannot be acknowledged`)
    if (state.get(acknowledgements, finding) !== undefined) throw new Error(`${finding} is acknowledged already`)
    if (state.get(closings, month) !== undefined) throw new Error(`${month} is closed already`)
    state.set(acknowledgements, finding, { ...data, acknowledgement_id: position, acknowledged_at: at })
  },
  'month-closed': (state, { data: { month, acknowledged } }) => {
    for (const listed of acknowledged) {
      const row = state.get(acknowledgements, listed.finding)
      const isTrue = row !== undefined && hasValues(acknowledgedFinding(row), listed)
      if (!isTrue) throw new Error(`${month} lists ${listed.finding}, which was not acknowledged so`)
    }
  },
}

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
    if (found === null)
      return refuse('validation_failed', {
        finding: [
          {
            en: 'No step of this month’s closing has found this.',
            ar: 'لم تجد أي خطوة من خطوات إقفال هذا الشهر هذه الملاحظة.',
          },
        ],
      })
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

/** The steps of a closing whose findings have ids, and can be acknowledged. */
export type FindingStep = Extract<ClosingStep, 'verify' | 'exceptions' | 'draws'>

/** Hex digits of an id. */
const ID_LENGTH = 16

/**
 * The id of a finding: the same in every month that shows it, as amounts and sentences have no part in it. `subject` is the
 * position of an event, an account, or a row of a table.
 */
export const findingId = (step: string, kind: string, subject: string): string =>
  sha256(`${step}|${kind}|${subject}`).slice(0, ID_LENGTH)

/** The position of the event that a finding is about; null for an account or a row. */
export const positionIn = (subject: string): number | null =>
  /^[1-9][0-9]{0,15}$/.test(subject) ? Number(subject) : null

/**
 * No reason excuses a broken chain of hashes, which is another ledger, nor tables and replies that differ from the ledger,
 * which a rebuild or their expiry corrects.
 */
const NEVER_ACKNOWLEDGED: readonly string[] = ['order', 'hash', 'checkpoint', 'seal', 'head', 'projection', 'reply']

export const mayBeAcknowledged = (step: string, kind: string): boolean =>
  step !== 'verify' || !NEVER_ACKNOWLEDGED.includes(kind)
