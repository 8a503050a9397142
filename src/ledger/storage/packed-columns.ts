import { eventTypes } from '../../../schema/events.ts'
import { type Currency, currencies, holders, type Movement } from '../rules/account.ts'
import { Utf8Builder } from './text-bytes.ts'

// The columns of ledger_events that are stored otherwise than they are hashed. Functions of sql/0001-ledger.sql unpack them,
// too. What nobody can have packed so is taken as it stands: its hash shows that it was changed.

/** `u7d` is `user:7:diamonds`: kinds of accounts by their first letter, currencies by these. */
const currencyLetters: Readonly<Record<Currency, string>> = {
  coins: 'c',
  diamonds: 'd',
  target: 't',
  dollars: '$',
  agent_dollars: 'a',
}
const holderOf = new Map(holders.map((holder) => [holder.slice(0, 1), holder]))
const currencyOfLetter = new Map(currencies.map((currency) => [currencyLetters[currency], currency]))
const letterOf = new Map<string, string>(currencies.map((currency) => [currency, currencyLetters[currency]]))

/** Where the names of accounts that evolvers may read differ from others: games, and dollars of either wallet. */
const isCodeReadByEvolvers = (code: string): boolean => code.startsWith('g') || code.endsWith('$') || code.endsWith('a')

function codeOf(account: string): string {
  const from = account.indexOf(':')
  const to = account.lastIndexOf(':')
  const letter = account.slice(0, 1)
  const currency = letterOf.get(account.slice(to + 1))
  if (from === to || currency === undefined || holderOf.get(letter) !== account.slice(0, from)) return account
  return `${letter}${account.slice(from + 1, to)}${currency}`
}

function accountOf(code: string): string {
  const holder = holderOf.get(code.slice(0, 1))
  const currency = currencyOfLetter.get(code.slice(-1))
  return code.length < 3 || holder === undefined || currency === undefined
    ? code
    : `${holder}:${code.slice(1, -1)}:${currency}`
}

/** `u7d>hgiftsd 100;igiftst>u9t 100,r3t 3`: movements in a row from one account name it once. */
export function packMovements(movements: readonly Movement[]): string {
  let packed = ''
  let before: string | undefined
  for (const { debit, credit, amount } of movements) {
    if (debit === before) packed += ','
    else packed += `${before === undefined ? '' : ';'}${codeOf(debit)}>`
    packed += `${codeOf(credit)} ${amount}`
    before = debit
  }
  return packed
}

/** The regular expression of packed movements from or to one of these accounts. */
export const patternOf = (accounts: readonly string[]): string =>
  `(^|[;>,])(${accounts.map((account) => codeOf(account).replaceAll(/\W/g, '\\$&')).join('|')})[> ]`

/** All movements, or only those of accounts whose balances evolvers may read. */
export function unpackMovements(packed: string, which: 'all' | 'read by evolvers' = 'all'): Movement[] {
  const movements: Movement[] = []
  if (packed === '') return movements
  for (const group of packed.split(';')) {
    const [debit = '', legs = ''] = group.split('>', 2)
    for (const leg of legs.split(',')) {
      const [credit = '', amount = ''] = leg.split(' ', 2)
      if (which === 'all' || isCodeReadByEvolvers(debit) || isCodeReadByEvolvers(credit))
        movements.push({ debit: accountOf(debit), credit: accountOf(credit), amount: Number(amount) })
    }
  }
  return movements
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const UUID_BYTES = 16

/** A request id or idempotency key as bytes, in hex: a UUID as its 16; before another text of 16 bytes stands a zero. */
export function packId(id: string): string {
  if (UUID.test(id)) return id.replaceAll('-', '')
  const hex = Buffer.from(id).toString('hex')
  return hex.length === UUID_BYTES * 2 ? `00${hex}` : hex
}

export function unpackId(packed: Buffer): string {
  if (packed.length !== UUID_BYTES) return packed.toString('utf8', packed[0] === 0 ? 1 : 0)
  const hex = packed.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The names of an event's data, in order. */
const fieldsOfTypes = new Map<string, readonly string[]>(
  Object.entries(eventTypes).map(([type, { version, data }]) => [`${type} ${version}`, Object.keys(data.properties)]),
)

/** The names of the data of a type and version, in order; undefined where this version of the program does not know it. */
export const fieldsOf = (type: string, version: number): readonly string[] | undefined =>
  fieldsOfTypes.get(`${type} ${version}`)

/** The list of the values of an event's data, without their names; its JSON text where it has other names, or others first. */
export function packData(type: string, version: number, data: object, text: string): string {
  const fields = fieldsOf(type, version)
  const values: unknown[] = []
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined) continue
    if (fields?.[values.length] !== name) return text
    values.push(value)
  }
  return JSON.stringify(values)
}

/** Whether data of a type and version that is not a list could be none. */
export function isPacked(type: string, version: number, packed: string): boolean {
  if (packed.startsWith('[')) return true
  let data: unknown
  try {
    data = JSON.parse(packed)
  } catch {
    return true
  }
  return typeof data !== 'object' || data === null || packData(type, version, data, packed) === packed
}

const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44

/** Appends the JSON text of data that is packed in these bytes. */
export function appendData(
  text: Utf8Builder,
  bytes: Buffer,
  start: number,
  length: number,
  fields: readonly string[] | undefined,
): void {
  const last = start + length - 1
  if (fields === undefined || bytes[start] !== OPEN_LIST || bytes[last] !== CLOSE_LIST) {
    text.appendBytes(bytes, start, length)
    return
  }
  text.appendByte(OPEN_OBJECT)
  let depth = 0
  let from = start + 1
  let place = 0
  for (let at = from; at <= last; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at, last)
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1
    else if ((byte === COMMA && depth === 0) || at === last) {
      if (at === from && at === last && place === 0) break
      text.appendAscii(`${place === 0 ? '' : ','}"${fields[place] ?? ''}":`)
      text.appendBytes(bytes, from, at - from)
      place += 1
      from = at + 1
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1
  }
  text.appendByte(CLOSE_OBJECT)
}

const builder = new Utf8Builder()

/** The JSON text of data that is packed in a text. */
export function unpackData(type: string, version: number, packed: string): string {
  const bytes = Buffer.from(packed)
  builder.clear()
  appendData(builder, bytes, 0, bytes.length, fieldsOf(type, version))
  return builder.bytes.toString()
}

/** Where a string ends that begins at `at`. */
function endOfString(bytes: Buffer, at: number, last: number): number {
  let end = at + 1
  while (end < last && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1
  return end
}
