import { cellHtml } from './cell-html.ts'
import { formatCount, formatUnits, formatWord, timeCell } from './cells.ts'

/** What templates call to show values. */
export const format = {
  time: timeCell,
  units: formatUnits,
  count: formatCount,
  word: formatWord,
  /** Markup, which escapes what it shows. */
  html: cellHtml,
} as const
