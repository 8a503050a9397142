/** Everything in SQL that can contain a semicolon which ends no statement; and the semicolon itself. */
const PARTS = /--[^\n]*|\/\*[\s\S]*?\*\/|\$(?<tag>\w*)\$[\s\S]*?\$\k<tag>\$|'(?:[^']|'')*'|"(?:[^"]|"")*"|;/g

/**
 * The statements of a migration, without their semicolons. For SQL as migrations are written: no nested comments, no
 * `E'…'` strings with an escaped quotation mark, no `begin atomic` bodies.
 */
export function splitStatements(text: string): string[] {
  const statements: string[] = []
  let start = 0
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    if (part !== ';') continue
    statements.push(text.slice(start, index))
    start = index + 1
  }
  statements.push(text.slice(start))
  return statements.map((statement) => statement.trim()).filter((statement) => !isEmpty(statement))
}

const isEmpty = (statement: string): boolean => statement.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim() === ''
