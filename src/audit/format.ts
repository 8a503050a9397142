import { isDollars, serializeBalance } from '../ledger/rules/money.ts'

/** An amount for a terminal: `1,234`; dollars, which are kept in cents, as `12.34`. */
export function formatAmount(currency: string, amount: bigint): string {
  const [whole = '', cents] = formatDecimal(currency, amount).split('.')
  // `-0` of -0.05 would lose its sign as a number.
  const sign = whole.startsWith('-') ? '-' : ''
  const grouped = sign + BigInt(whole.replace('-', '')).toLocaleString('en')
  return cents === undefined ? grouped : `${grouped}.${cents}`
}

/** An amount for programs: `1234`; dollars, which are kept in cents, with two decimals as `1234.50`. */
export function formatDecimal(currency: string, amount: bigint | number): string {
  if (!isDollars(currency)) return String(amount)
  const cents = String(amount).replace('-', '').padStart(3, '0')
  return `${amount < 0 ? '-' : ''}${cents.slice(0, -2)}.${cents.slice(-2)}`
}

/** JSON; a `bigint` becomes an integer, or a decimal string beyond 2^53-1. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_name, inner: unknown) => (typeof inner === 'bigint' ? serializeBalance(inner) : inner))

/** Lines of text with aligned columns; those of `right`, counted from 0, are aligned to the right. */
export function formatColumns(rows: readonly (readonly string[])[], right: readonly number[]): string[] {
  const widths: number[] = []
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  return rows.map((row) =>
    row
      .map((cell, i) => (right.includes(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

/**
 * Where a spreadsheet would begin a formula; some take the wide signs of Asian keyboards for it, too. Where `;` or a tab
 * separates cells, as in much of Europe, quotes after a comma do not count: the cells are what stands between those and
 * line breaks.
 */
const FORMULA = /^(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])(?="*[=+\-@\uff1d\uff0b\uff0d\uff20])/g

/** Nearly all texts: quick to see, and safe. */
const PLAIN = /^[\w:][\w:-]*$/

/**
 * A text as a cell of CSV (RFC 4180). Whatever would begin a formula gets an apostrophe before it, which spreadsheets
 * take as the mark of a text. A library would bring options and streams for what is two lines here.
 */
export function csvText(text: string): string {
  if (PLAIN.test(text)) return text
  const safe = text.replaceAll(FORMULA, "'")
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
