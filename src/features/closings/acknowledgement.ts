import type { AcknowledgedFinding } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { integer, micros, projection, type RowOf, text } from '../../ledger/rules/projection.ts'
import { hasValues } from '../../ledger/rules/stored-values.ts'
import { closings } from './closing.ts'
import { findingId, mayBeAcknowledged } from './closing-finding.ts'

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

export type Acknowledgement = RowOf<typeof acknowledgements>

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
