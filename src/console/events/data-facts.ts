import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { AcknowledgedFinding, ClosingFile } from '../../../schema/events.ts'
import { parseData } from '../../audit/reports/events/parse-data.ts'
import { type Currency, currencies, currencyOf } from '../../ledger/rules/account.ts'
import { type Cell, codeCell, type Facts, formatCount, formatUnits, formatWord, textCell } from '../layout/cells.ts'
import { addressWith, eventPath, type PageKind, pagePath } from '../layout/links.ts'

type Fact = Facts[number]

/** Fields with an id, by what has a page of this id. */
const kinds: readonly (readonly [RegExp, PageKind])[] = [
  [/^(user|sender|receiver|creator|winner|owner|target|beneficiary|from_user|to_user)_id$/, 'user'],
  [/^withdrawal_id$/, 'withdrawal'],
  [/^game_id$/, 'game'],
  [/^proposal_id$/, 'proposal'],
  [/^card_id$/, 'event'],
  [/^(decoration|gift)_id$/, 'gift'],
  [/^(privilege_)?package_id$/, 'package'],
  [/^country_id$/, 'country'],
]

function pageOf(name: string, id: number): string | undefined {
  if (name === 'room_id') return addressWith('/console/accounts', { kind: 'room', q: id })
  const found = kinds.find(([pattern]) => pattern.test(name))
  return found && pagePath(found[1], id)
}

const files = TypeCompiler.Compile(Type.Array(ClosingFile))
const acknowledged = TypeCompiler.Compile(Type.Array(AcknowledgedFinding))

/** What short names of fields mean, by the event's type. */
const meanings: Readonly<Record<string, string>> = {
  'gift-drawn k': 'number of the send on its chain',
  'gift-drawn link': 'the secret of this send, which its chain committed to',
  'gift-drawn draws': 'r: the number drawn; reward: diamonds won',
  'gift-drawn times': 'sends of this gift in a row, this one included',
  'gift-drawn won': 'diamonds won in these sends',
  'gift-drawn big_win_room': 'diamonds won by one order from which the room was told',
  'gift-drawn big_win_all': 'diamonds won by one order from which everyone was told',
  'gift-drawn chain': 'of links that were committed to before the first draw',
  'roulette-finished draw': 'the number drawn',
}

/** The fields of an event's data for people. Data that is no object, which only tampering makes, is shown as it is. */
export function dataFacts(type: string, data: string): Facts {
  const fields = parseData(data)
  if (fields === null) return [['data', codeCell(shortened(data))]]
  return Object.entries(fields).flatMap(([name, value]): Fact[] => {
    if (type === 'month-closed') return closingFacts(name, value)
    const meaning = meanings[`${type} ${name}`]
    const cell = fieldCell(name, value, fields)
    return [[formatWord(name), meaning === undefined ? cell : { ...cell, suffix: textCell(meaning) }]]
  })
}

/** The fields of a closed month, whose page has the files themselves. */
function closingFacts(name: string, value: unknown): Fact[] {
  if (name === 'month' && typeof value === 'string') {
    return [[name, textCell(value, `/console/reports/${encodeURIComponent(value)}`)]]
  }
  if (files.Check(value)) return value.map((file): Fact => [file.name, codeCell(file.sha256)])
  if (name === 'acknowledged' && acknowledged.Check(value)) {
    return value.map(
      (one): Fact => [
        `${name} ${formatWord(one.kind)} ${one.subject}`,
        textCell(`by ${one.acknowledged_by}: ${one.reason}`, eventPath(one.id)),
      ],
    )
  }
  if (name === 'checkpoint' && typeof value === 'object' && value !== null) {
    return Object.entries(value).map(([part, inner]): Fact => [formatWord(`${name} ${part}`), valueCell(part, inner)])
  }
  return [[formatWord(name), valueCell(name, value)]]
}

/** The JSON as it is, with what it says about amounts next to it. */
function fieldCell(name: string, value: unknown, fields: object): Cell {
  const cell = valueCell(name, value)
  const amounts = amountsIn(name, value, fields)
  if (amounts.length === 0) return cell
  const others = amounts.length - MAX_AMOUNTS
  const texts = [...amounts.slice(0, MAX_AMOUNTS), ...(others > 0 ? [`and ${formatCount(others)} more`] : [])]
  return { ...cell, suffix: textCell(texts.join(', ')) }
}

function valueCell(name: string, value: unknown): Cell {
  if (value === null) return textCell(null)
  if (typeof value === 'number') return codeCell(String(value), pageOf(name, value))
  if (typeof value === 'string') return /^[0-9a-f]{64}$/.test(value) ? codeCell(value) : textCell(value)
  if (typeof value === 'boolean') return textCell(value ? 'yes' : 'no')
  return codeCell(shortened(JSON.stringify(value)))
}

/** Characters of one field: a salary file has tens of thousands, which are all among the bytes that were hashed. */
const MAX_CHARACTERS = 2_000

const shortened = (text: string): string =>
  text.length <= MAX_CHARACTERS
    ? text
    : `${text.slice(0, MAX_CHARACTERS)}… (${formatCount(text.length)} characters; the bytes below have all of them)`

/** Amounts of one field that are said in words: a salary file has thousands. */
const MAX_AMOUNTS = 10

const isCurrency = (name: unknown): name is Currency => currencies.some((currency) => currency === name)

/** A number of a currency's smallest units; a decimal string beyond 2^53-1. */
const unitsOf = (value: unknown): bigint | null =>
  Number.isSafeInteger(value) || (typeof value === 'string' && /^-?[0-9]{1,40}$/.test(value))
    ? BigInt(String(value))
    : null

/** Amounts of a field and of what is in it: `229.50 dollars`. Data has them in the smallest unit, such as cents. */
function amountsIn(name: string, value: unknown, parent: object): readonly string[] {
  if (typeof value === 'object' && value !== null) {
    const fields = new Map<string, unknown>(Object.entries(value))
    const account = fields.get('account')
    const before = unitsOf(fields.get('before'))
    const after = unitsOf(fields.get('after'))
    if (typeof account === 'string' && before !== null && after !== null) {
      const currency = currencyOf(account)
      return [`${account} from ${formatUnits(currency, before)} to ${formatUnits(currency, after)}`]
    }
    return [...fields].flatMap(([key, inner]) => amountsIn(key, inner, value))
  }
  const siblings = new Map<string, unknown>(Object.entries(parent))
  const named = name === 'amount' ? ['currency', 'wallet', 'limit'].map((key) => siblings.get(key)) : [name]
  const currency = named.find(isCurrency)
  const units = typeof value === 'number' ? unitsOf(value) : null
  return currency === undefined || units === null ? [] : [`${formatUnits(currency, units)} ${formatWord(currency)}`]
}
