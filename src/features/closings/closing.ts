import type { AcknowledgedFinding, ClosingCheckpoint, ClosingFile } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { integer, json, micros, projection, type RowOf, text } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'

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

/** Another verification is running: one reads the whole ledger, and two would take the time of both. */
export const VERIFICATION_RUNNING = 'verification_running'

/** A step of the month's closing is running, or the closing is being recorded. */
export const STEPS_RUNNING = 'steps_running'

/** The steps of a month's closing, in the order in which they are taken. */
export const closingSteps = [
  'verify',
  'trial-balance',
  'house-accounts',
  'open-withdrawals',
  'exceptions',
  'export',
  'draws',
  'checkpoint',
] as const
export type ClosingStep = (typeof closingSteps)[number]

export const MONTH_PATTERN = '^[0-9]{4}-(0[1-9]|1[0-2])$'

/** Whether a text is a month: `2026-10`. */
export const isMonth = (text: string): boolean => new RegExp(MONTH_PATTERN).test(text)

/** The first microsecond of a month in UTC. */
function monthBegins(month: string): Micros {
  const [year = 0, number = 0] = month.split('-').map(Number)
  // Date.UTC takes years below 100 for those of the last century.
  return new Date(0).setUTCFullYear(year, number - 1) * 1000
}

/** `2027-01` after `2026-12`, and `10000-01` after `9999-12`. */
export function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number)
  const next = number === 12 ? [year + 1, 1] : [year, number + 1]
  return next.map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0')).join('-')
}

/** The last microsecond of a month in UTC. */
export const monthEnds = (month: string): Micros => monthBegins(nextMonth(month)) - 1

/** What decides whether a month can be closed. */
interface MonthFacts {
  readonly closed: boolean
  /** The last month that was closed; null before the first. */
  readonly last: { readonly month: string } | null
  readonly now: Micros
  /** The last position of the month; 0 when the ledger began later. */
  readonly position: number
}

/** Why a month cannot be closed, whatever its files say; null when it can. */
export function monthRefusal(
  month: string,
  { closed, last, now, position }: MonthFacts,
): 'month_closed' | 'month_not_over' | 'month_out_of_order' | 'month_before_ledger' | null {
  if (closed) return 'month_closed'
  if (now <= monthEnds(month)) return 'month_not_over'
  if (last !== null && month !== nextMonth(last.month)) return 'month_out_of_order'
  return position < 1 ? 'month_before_ledger' : null
}
