import { eventTypes } from '../../../schema/events.ts'
import { currencies, holders, type Movement } from '../rules/account.ts'
import { Utf8Builder } from './text-bytes.ts'

// The columns of ledger_events that are stored otherwise than they are hashed. Functions of sql/0001-ledger.sql unpack them,
// too. What nobody can have packed so is taken as it stands: its hash shows that it was changed.

/** `u7d` is `user:7:diamonds`: a letter for each kind of account and each currency, in their order. */
export const holderLetters = holders.map((holder) => holder.charAt(0)).join('')
export const currencyLetters = 'cdt$a'
/** What the letters at the beginning and the end of a code stand for, by their bytes. */
const beginnings: (string | undefined)[] = []
const endings: (string | undefined)[] = []
for (const holder of holders) beginnings[holder.charCodeAt(0)] = `${holder}:`
for (const [i, currency] of currencies.entries()) endings[currencyLetters.charCodeAt(i)] = `:${currency}`
const letterOf = new Map<string, string>(currencies.map((currency, i) => [currency, currencyLetters.charAt(i)]))

/** Where the names of accounts that evolvers may read differ from others: games, and dollars of either wallet. */
const isCodeReadByEvolvers = (code: string): boolean => code.startsWith('g') || code.endsWith('$') || code.endsWith('a')

/** The code of an account; a name that is none as it stands. */
export function codeOf(account: string): string {
  const from = account.indexOf(':')
  const to = account.lastIndexOf(':')
  const currency = letterOf.get(account.slice(to + 1))
  if (from === to || currency === undefined || beginnings[account.charCodeAt(0)] !== account.slice(0, from + 1))
    return account
  return `${account[0]}${account.slice(from + 1, to)}${currency}`
}

/** The name of an account; a code that is none as it stands. */
export function accountOf(code: string): string {
  const beginning = beginnings[code.charCodeAt(0)]
  const ending = endings[code.charCodeAt(code.length - 1)]
  if (code.length < 3 || beginning === undefined || ending === undefined) return code
  return beginning + code.slice(1, -1) + ending
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

/** Visits movements as they are packed: `u7d`, `hgiftsd`, 100. */
export function visitPacked(packed: string, visit: (debit: string, credit: string, amount: number) => void): void {
  let debit = ''
  for (let at = 0, isNewDebit = true; at < packed.length; ) {
    if (isNewDebit) {
      const end = endOf(packed, '>', at)
      debit = packed.slice(at, end)
      at = end + 1
    }
    const creditEnd = endOf(packed, ' ', at)
    const credit = packed.slice(at, creditEnd)
    let amountEnd = creditEnd + 1
    while (amountEnd < packed.length && packed[amountEnd] !== ',' && packed[amountEnd] !== ';') amountEnd += 1
    visit(debit, credit, Number(packed.slice(creditEnd + 1, amountEnd)))
    isNewDebit = packed[amountEnd] === ';'
    at = amountEnd + 1
  }
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from)
  return end === -1 ? text.length : end
}

/** All movements, or only those of accounts whose balances evolvers may read. */
export function unpackMovements(packed: string, which: 'all' | 'read by evolvers' = 'all'): Movement[] {
  const movements: Movement[] = []
  visitPacked(packed, (debit, credit, amount) => {
    if (which === 'all' || isCodeReadByEvolvers(debit) || isCodeReadByEvolvers(credit))
      movements.push({ debit: accountOf(debit), credit: accountOf(credit), amount })
  })
  return movements
}

const SPACE = 32
const COMMA = 44
const SEMICOLON = 59
const GREATER = 62

/**
 * Appends what is hashed of movements that are packed in these bytes. Answers whether they are packed as the service packs
 * them: their hash does not tell.
 */
export function appendMovements(text: Utf8Builder, bytes: Buffer, start: number, length: number): boolean {
  const end = start + length
  let isPacked = true
  let debit = start
  let debitEnd = start
  for (let at = start, separator = SEMICOLON; at < end; ) {
    if (separator === SEMICOLON) {
      const [before, beforeEnd] = [debit, debitEnd]
      debit = at
      while (at < end && bytes[at] !== GREATER) at += 1
      debitEnd = at
      at += 1
      if (beforeEnd > before && areEqual(bytes, before, beforeEnd, debit, debitEnd)) isPacked = false
    }
    const credit = at
    while (at < end && bytes[at] !== SPACE) at += 1
    const creditEnd = at
    const amount = at + 1
    while (at < end && bytes[at] !== COMMA && bytes[at] !== SEMICOLON) at += 1
    if (!appendAccount(text, bytes, debit, debitEnd)) isPacked = false
    text.appendByte(SPACE)
    if (!appendAccount(text, bytes, credit, creditEnd)) isPacked = false
    text.appendByte(SPACE)
    text.appendBytes(bytes, amount, Math.max(0, at - amount))
    text.appendByte(SEMICOLON)
    separator = bytes[at] ?? 0
    at += 1
    if (at === end) isPacked = false
  }
  return isPacked
}

/** Answers false for a name that is not written as a code. */
function appendAccount(text: Utf8Builder, bytes: Buffer, start: number, end: number): boolean {
  const beginning = beginnings[bytes[start] ?? 0]
  const ending = endings[bytes[end - 1] ?? 0]
  if (beginning === undefined || ending === undefined || end - start < 3) {
    text.appendBytes(bytes, start, end - start)
    const name = bytes.toString('utf8', start, end)
    return codeOf(name) === name
  }
  text.appendAscii(beginning)
  text.appendBytes(bytes, start + 1, end - start - 2)
  text.appendAscii(ending)
  return true
}

function areEqual(bytes: Buffer, a: number, aEnd: number, b: number, bEnd: number): boolean {
  if (aEnd - a !== bEnd - b) return false
  for (let i = 0; i < aEnd - a; i += 1) if (bytes[a + i] !== bytes[b + i]) return false
  return true
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
  builder.clear()
  appendId(builder, packed, 0, packed.length)
  return builder.bytes.toString()
}

const HYPHEN = 45
/** The bytes of a UUID before which a hyphen stands. */
const HYPHENS = [4, 6, 8, 10]

/** Appends an id that is packed in these bytes. Answers whether it is packed as the service packs it. */
export function appendId(text: Utf8Builder, bytes: Buffer, start: number, length: number): boolean {
  if (length !== UUID_BYTES) {
    const skipped = bytes[start] === 0 && length > 0 ? 1 : 0
    text.appendBytes(bytes, start + skipped, length - skipped)
    return packId(bytes.toString('utf8', start + skipped, start + length)).length === length * 2
  }
  let from = 0
  for (const to of HYPHENS) {
    text.appendHex(bytes, start + from, to - from)
    text.appendByte(HYPHEN)
    from = to
  }
  text.appendHex(bytes, start + from, UUID_BYTES - from)
  return true
}

/** How the data of a type is packed. */
interface Layout {
  readonly version: number
  /** The names of its values, in order. */
  readonly fields: readonly string[]
  /** What stands before each value in JSON. */
  readonly beginnings: readonly string[]
  /** An object with these names: copies of it are faster to make and to read than objects that grow name by name. */
  readonly blank: Readonly<Record<string, unknown>>
}

const layouts = new Map<string, Layout>(
  Object.entries(eventTypes).map(([type, { version, data }]) => {
    const fields = Object.keys(data.properties)
    const beginnings = fields.map((name, i) => `${i === 0 ? '' : ','}"${name}":`)
    return [type, { version, fields, beginnings, blank: Object.fromEntries(fields.map((name) => [name, null])) }]
  }),
)

/** Undefined for a type or version that this version of the program does not know. */
function layoutOf(type: string, version: number): Layout | undefined {
  const layout = layouts.get(type)
  return layout?.version === version ? layout : undefined
}

/** The names of the data of a type and version, in order; none where this version of the program does not know it. */
export const fieldsOf = (type: string, version: number): readonly string[] => layoutOf(type, version)?.fields ?? []

/** The list of the values of an event's data, without their names; its JSON text where it has other names, or others first. */
export function packData(type: string, version: number, data: object, text: string): string {
  const layout = layoutOf(type, version)
  if (layout === undefined) return text
  const values: unknown[] = []
  for (const [name, value] of Object.entries(data)) {
    if (value === undefined) continue
    if (layout.fields[values.length] !== name) return text
    values.push(value)
  }
  return JSON.stringify(values)
}

const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const QUOTE = 34
const BACKSLASH = 92

/** Appends the JSON text of data that is packed in these bytes. Answers whether it is packed as the service packs it. */
export function appendData(
  text: Utf8Builder,
  bytes: Buffer,
  start: number,
  length: number,
  type: string,
  version: number,
): boolean {
  const layout = layoutOf(type, version)
  const last = start + length - 1
  if (layout === undefined || bytes[start] !== OPEN_LIST || bytes[last] !== CLOSE_LIST) {
    text.appendBytes(bytes, start, length)
    return layout === undefined || isKept(type, version, bytes.toString('utf8', start, last + 1))
  }
  text.appendByte(OPEN_OBJECT)
  let depth = 0
  let from = start + 1
  let place = 0
  for (let at = from; at <= last && length > 2; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfString(bytes, at, last)
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1
    else if ((byte === COMMA && depth === 0) || at === last) {
      text.appendAscii(layout.beginnings[place] ?? ',')
      text.appendBytes(bytes, from, at - from)
      place += 1
      from = at + 1
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1
  }
  text.appendByte(CLOSE_OBJECT)
  // Else a string has no end, and the last value was not appended.
  return from > last || length === 2
}

/** Whether data that is not packed as a list could not be. */
function isKept(type: string, version: number, packed: string): boolean {
  let data: unknown
  try {
    data = JSON.parse(packed)
  } catch {
    return true
  }
  return typeof data !== 'object' || data === null || packData(type, version, data, packed) === packed
}

const builder = new Utf8Builder()

/** The JSON text of data that is packed in a text. */
export function unpackData(type: string, version: number, packed: string): string {
  const bytes = Buffer.from(packed)
  builder.clear()
  appendData(builder, bytes, 0, bytes.length, type, version)
  return builder.bytes.toString()
}

/** The data that is packed in a text, parsed. Throws where it is no JSON. */
export function parsePacked(type: string, version: number, packed: string): unknown {
  const values: unknown = JSON.parse(packed)
  const layout = layoutOf(type, version)
  if (layout === undefined || !Array.isArray(values)) return values
  const data: Record<string, unknown> = values.length === layout.fields.length ? { ...layout.blank } : {}
  for (let i = 0; i < values.length; i += 1) data[layout.fields[i] ?? ''] = values[i]
  return data
}

/** Where a string ends that begins at `at`. */
function endOfString(bytes: Buffer, at: number, last: number): number {
  let end = at + 1
  while (end < last && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1
  return end
}
