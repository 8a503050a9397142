import type { MonthClosing, RecordedClosing } from '../../../schema/closings.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { Closing } from './closing.ts'

/** A closing as its command answers it: who sent the command is known to the sender. */
export const recordedClosing = (closing: Closing): RecordedClosing => ({
  id: closing.closing_id,
  month: closing.month,
  first_position: closing.first_position,
  position: closing.last_position,
  closed_at: isoMicros(closing.closed_at),
  files: [...closing.files],
  checkpoint: closing.checkpoint,
  acknowledged: [...closing.acknowledged],
})

export const monthClosing = (closing: Closing, closed_by: string): MonthClosing => ({
  ...recordedClosing(closing),
  closed_by,
})
