/** A text that a spreadsheet would run as a formula; some take the wide signs of Asian keyboards for it, too. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

/**
 * A text as a cell of CSV (RFC 4180). One that begins like a formula gets an apostrophe before it, which spreadsheets
 * take as the mark of a text. A library would bring options and streams for what is one line here.
 */
export function csvText(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
