import type { AcknowledgedFinding, ClosingCheckpoint, ClosingFile } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { integer, json, micros, projection, type RowOf, text } from '../../ledger/rules/projection.ts'
import { nextMonth } from './month.ts'

/** A month that was closed. */
export const closings = projection('month_closings', {
  month: text(),
  /** The position of its event. */
  closing_id: integer(),
  /** The positions that it covers; `last_position` is one less than the first where nothing happened. */
  first_position: integer(),
  last_position: integer(),
  files: json<readonly ClosingFile[]>(),
  checkpoint: json<ClosingCheckpoint>(),
  acknowledged: json<readonly AcknowledgedFinding[]>(),
  closed_at: micros(),
})

export type Closing = RowOf<typeof closings>

/** The last month that was closed, from which the next one begins: a single row. */
export const lastClosings = projection('last_closing', { ledger: text(), month: text(), last_position: integer() })

export const LEDGER = 'ledger'

export const evolveClosings: Evolver = {
  'month-closed': (state, { data, position: closing_id, at }) => {
    const { month, position, files, checkpoint, acknowledged } = data
    const before = state.get(lastClosings, LEDGER)
    if (before !== undefined && month !== nextMonth(before.month)) {
      throw new Error(`${month} does not come after ${before.month}, the last closed month`)
    }
    if (position < (before?.last_position ?? 1) || checkpoint.position !== position) {
      throw new Error(`${month} cannot end at position ${position}, with the checkpoint of ${checkpoint.position}`)
    }
    const first_position = (before?.last_position ?? 0) + 1
    state.set(closings, month, {
      month,
      closing_id,
      first_position,
      last_position: position,
      files,
      checkpoint,
      acknowledged,
      closed_at: at,
    })
    state.set(lastClosings, LEDGER, { ledger: LEDGER, month, last_position: position })
  },
}
