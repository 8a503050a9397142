import { type Cell, codeCell, textCell } from '../frame/cells.ts'
import { eventPath } from '../frame/links.ts'

/** Fields with an id, by the page that shows what has it. */
const pages: readonly (readonly [RegExp, (id: number) => string])[] = [
  [
    /^(user|sender|receiver|creator|winner|owner|target|beneficiary|from_user|to_user)_id$/,
    (id) => `/console/users/${id}`,
  ],
  [/^withdrawal_id$/, (id) => `/console/withdrawals/${id}`],
  [/^game_id$/, (id) => `/console/games/${id}`],
  [/^proposal_id$/, (id) => `/console/proposals/${id}`],
  [/^card_id$/, eventPath],
  [/^room_id$/, (id) => `/console/accounts?kind=room&q=${id}`],
]

/** The fields of an event's data for people. Data that is no object, which only tampering makes, is shown as it is. */
export function dataFacts(data: string): readonly (readonly [string, Cell])[] {
  const fields = parse(data)
  if (fields === null) return [['data', codeCell(data)]]
  return Object.entries(fields).map(([name, value]) => [name.replaceAll('_', ' '), fieldCell(name, value)])
}

function fieldCell(name: string, value: unknown): Cell {
  if (value === null) return textCell(null)
  if (typeof value === 'number') {
    const page = pages.find(([pattern]) => pattern.test(name))
    return codeCell(String(value), page?.[1](value))
  }
  if (typeof value === 'string') return /^[0-9a-f]{64}$/.test(value) ? codeCell(value) : textCell(value)
  if (typeof value === 'boolean') return textCell(value ? 'yes' : 'no')
  return codeCell(JSON.stringify(value))
}

function parse(data: string): object | null {
  try {
    const fields: unknown = JSON.parse(data)
    return typeof fields === 'object' ? fields : null
  } catch {
    return null
  }
}
