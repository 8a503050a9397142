import type { Micros } from '../../ledger/rules/time.ts'

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
