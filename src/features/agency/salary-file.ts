import type { Deposit } from './deposit-salaries.ts'
import { dollarsRule, parseDollars } from './dollars.ts'

/** A row of a file: its location, and the deposit or the error. */
export type DepositRow = { readonly location: string } & ({ readonly deposit: Deposit } | { readonly error: string })

/** The file as a whole is malformed. */
export class InvalidSalaryFile extends Error {
  override readonly name = 'InvalidSalaryFile'
}

/** Parses `deposits.csv` or `deposits.json` for a period. Throws InvalidSalaryFile; invalid rows are returned with an error. */
export function parseSalaryFile(name: string, text: string, period: string): DepositRow[] {
  // Some programs start every file with a byte order mark.
  const content = text.replace(/^\ufeff/, '')
  const rows = /\.json$/i.test(name) ? jsonRows(content, period) : csvRows(content)
  const locations = new Map<number, string>()
  return rows.map((row) => {
    if ('error' in row) return row
    const before = locations.get(row.deposit.user_id)
    if (before === undefined) locations.set(row.deposit.user_id, row.location)
    return before === undefined
      ? row
      : { location: row.location, error: `user ${row.deposit.user_id} already appears in ${before}` }
  })
}

const REQUIRED = ['user_id', 'dollars', 'agent_dollars'] as const
const COLUMNS = [...REQUIRED, 'target'] as const
type Cells = Readonly<Partial<Record<(typeof COLUMNS)[number], unknown>>>

function csvRows(text: string): DepositRow[] {
  const [head = '', ...lines] = text.split(/\r?\n/)
  const names = parseCells(head)?.map((name) => name.toLowerCase()) ?? []
  const twice = COLUMNS.filter((column) => names.indexOf(column) !== names.lastIndexOf(column))
  if (REQUIRED.some((column) => !names.includes(column)) || twice.length > 0) {
    throw new InvalidSalaryFile(
      'its first line must name the columns user_id, dollars, agent_dollars and, if there is one, target',
    )
  }
  return lines.flatMap((line, i): DepositRow[] => {
    if (line.trim() === '') return []
    const location = `line ${i + 2}`
    const cells = parseCells(line)
    if (cells?.length !== names.length) return [{ location, error: `must have ${names.length} columns` }]
    const row: Cells = Object.fromEntries(COLUMNS.map((column) => [column, cells[names.indexOf(column)]]))
    // Cells are text: whole numbers are parsed here, dollars later.
    return [
      toDepositRow(location, {
        ...row,
        user_id: parseWholeNumber(row.user_id),
        target: row.target ? parseWholeNumber(row.target) : 0,
      }),
    ]
  })
}

const parseWholeNumber = (cell: unknown): unknown =>
  typeof cell === 'string' && /^(0|[1-9]\d{0,15})$/.test(cell) ? Number(cell) : cell

/** The cells of a line, trimmed and unquoted; null for unbalanced quotation marks. */
function parseCells(line: string): string[] | null {
  const cells: string[] = []
  const cell = /\s*(?:"((?:[^"]|"")*)"|([^",]*))\s*(,|$)/y
  for (;;) {
    const found = cell.exec(line)
    if (found === null) return null
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2]?.trim() ?? '')
    if (found[3] === '') return cells
  }
}

function jsonRows(text: string, period: string): DepositRow[] {
  const rows = parseJsonRows(text, period)
  return rows.map((row, i) => {
    const location = `row ${i + 1}`
    return typeof row === 'object' && row !== null
      ? toDepositRow(location, row)
      : { location, error: 'must be an object' }
  })
}

function parseJsonRows(text: string, period: string): readonly unknown[] {
  let whole: unknown
  try {
    whole = JSON.parse(text)
  } catch {
    throw new InvalidSalaryFile('it is not JSON')
  }
  if (Array.isArray(whole)) return whole
  if (typeof whole === 'object' && whole !== null && 'deposits' in whole && Array.isArray(whole.deposits)) {
    if ('period' in whole && whole.period !== period) throw new InvalidSalaryFile('it is for another period')
    return whole.deposits
  }
  throw new InvalidSalaryFile('it must hold a list of deposits')
}

function toDepositRow(location: string, { user_id, dollars, agent_dollars, target = 0 }: Cells): DepositRow {
  const cents = { dollars: toCents(dollars), agent_dollars: toCents(agent_dollars) }
  if (!isWholeNumber(user_id) || user_id === 0) return { location, error: 'user_id must be the id of a user' }
  if (cents.dollars === null) return { location, error: `dollars: ${dollarsRule(0).en}` }
  if (cents.agent_dollars === null) return { location, error: `agent_dollars: ${dollarsRule(0).en}` }
  if (!isWholeNumber(target)) return { location, error: 'target must be an integer from 0' }
  return { location, deposit: { user_id, dollars: cents.dollars, agent_dollars: cents.agent_dollars, target } }
}

const toCents = (value: unknown): number | null =>
  typeof value === 'string' || typeof value === 'number' ? parseDollars(value, 0) : null

const isWholeNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
