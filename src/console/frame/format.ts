import { cellHtml } from './cell-html.ts'
import {
  actorCell,
  amountCell,
  codeCell,
  formatAge,
  formatCount,
  formatUnits,
  formatWord,
  numberCell,
  statusCell,
  textCell,
  timeCell,
} from './cells.ts'

/** What templates call to show values. */
export const format = {
  text: textCell,
  code: codeCell,
  number: numberCell,
  amount: amountCell,
  time: timeCell,
  status: statusCell,
  actor: actorCell,
  units: formatUnits,
  count: formatCount,
  age: formatAge,
  word: formatWord,
  /** Markup, which escapes what it shows. */
  html: cellHtml,
} as const
