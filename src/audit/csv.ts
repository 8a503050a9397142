/**
 * Where a spreadsheet would begin a formula; some take the wide signs of Asian keyboards for it, too. Where `;` or a tab
 * separates cells, as in much of Europe, quotes after a comma do not count: the cells are what stands between those and
 * line breaks.
 */
const FORMULA = /^(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;\t\r\n])(?="*[=+\-@\uff1d\uff0b\uff0d\uff20])/g

/**
 * A text as a cell of CSV (RFC 4180). Whatever would begin a formula gets an apostrophe before it, which spreadsheets
 * take as the mark of a text. A library would bring options and streams for what is two lines here.
 */
export function csvText(text: string): string {
  const safe = text.replaceAll(FORMULA, "'")
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
