import { type TermKind, userFields, userListFields } from '../../../ledger/indexes/index-rows.ts'
import { type EventRowReader, textColumns } from '../../../ledger/storage/event-row-reader.ts'

type Visit = (term: number) => void

const QUOTE = 34
const COMMA = 44
const COLON = 58
const LETTER_S = 115
const OPENING_BRACKET = 91
const CLOSING_BRACKET = 93
const CLOSING_BRACE = 125
const USER_PREFIX = 'user:'

const names = (fields: readonly string[], ending: string): readonly Buffer[] =>
  fields.map((field) => Buffer.from(`${field}${ending}`))
const singleNames = names(userFields, '_id')
const listNames = names(userListFields, '_ids')

/** Visits the terms of `event_index` of an event, some of them more than once; those of its accounts are `userTerm`. */
export function visitTerms(rows: EventRowReader, visit: Visit): void {
  const { bytes } = rows
  const visitColumn = (kind: TermKind, column: number): void =>
    visitTerm(kind, bytes, rows.startOf(column), rows.lengthOf(column), visit)
  visitColumn('type', textColumns.type)
  visitColumn('actor', textColumns.actor)
  visitColumn('request', textColumns.requestId)
  visitColumn('key', textColumns.idempotencyKey)
  visitUser(bytes, rows.startOf(textColumns.actor), rows.lengthOf(textColumns.actor), visit)
  visitUsersOfData(bytes, rows.startOf(textColumns.data), rows.lengthOf(textColumns.data), visit)
}

/** The term of an account's user; undefined for an account of nobody. */
export function userTerm(account: string): number | undefined {
  const bytes = Buffer.from(account)
  let term: number | undefined
  visitUser(bytes, 0, bytes.length, (found) => (term = found))
  return term
}

function visitTerm(kind: TermKind, bytes: Uint8Array, start: number, length: number, visit: Visit): void {
  const term = length < 0 ? undefined : hashText(`${kind} `, bytes, start, length)
  if (term !== undefined) visit(term)
}

/** The id in `user:1` or `user:1:coins`. */
function visitUser(bytes: Uint8Array, start: number, length: number, visit: Visit): void {
  for (let i = 0; i < USER_PREFIX.length; i += 1) if (bytes[start + i] !== USER_PREFIX.charCodeAt(i)) return
  const from = start + USER_PREFIX.length
  const end = start + length
  if (from > end) return
  let to = from
  while (to < end && bytes[to] !== COLON) to += 1
  visitTerm('user', bytes, from, to - from, visit)
}

/** The ids after names such as `sender_id":` and in lists after names such as `receiver_ids":[`. */
function visitUsersOfData(bytes: Uint8Array, start: number, length: number, visit: Visit): void {
  const end = start + length
  for (let at = start + 1; at < end; at += 1) {
    if (bytes[at] !== COLON || bytes[at - 1] !== QUOTE) continue
    if (bytes[at - 2] !== LETTER_S) {
      if (!endsWithOneOf(singleNames, bytes, at - 1)) continue
      visitTerm('user', bytes, at + 1, itemEnd(bytes, at + 1, end, CLOSING_BRACE) - at - 1, visit)
    } else if (bytes[at + 1] === OPENING_BRACKET && endsWithOneOf(listNames, bytes, at - 1)) {
      for (let from = at + 2; from < end && bytes[from - 1] !== CLOSING_BRACKET; ) {
        const to = itemEnd(bytes, from, end, CLOSING_BRACKET)
        // An empty list has no items.
        if (to > from || bytes[to] === COMMA) visitTerm('user', bytes, from, to - from, visit)
        from = to + 1
      }
    }
  }
}

/** Where the next comma or closing character is. */
function itemEnd(bytes: Uint8Array, from: number, end: number, closing: number): number {
  let to = from
  while (to < end && bytes[to] !== COMMA && bytes[to] !== closing) to += 1
  return to
}

function endsWithOneOf(endings: readonly Buffer[], bytes: Uint8Array, end: number): boolean {
  for (const ending of endings) {
    let length = ending.length
    while (length > 0 && bytes[end - ending.length + length - 1] === ending[length - 1]) length -= 1
    if (length === 0) return true
  }
  return false
}

const scratch = new DataView(new ArrayBuffer(4096))
const bytesOf = new Uint8Array(scratch.buffer)
const INITIAL = 0x9e3779b9 + 3923095
const WORDS_BYTES = 12

const rotate = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits))

/**
 * PostgreSQL's `hashtext` of an ASCII prefix and bytes of a UTF-8 text, as a server with little-endian words computes it:
 * Bob Jenkins' lookup3. Undefined for a text longer than any that is indexed.
 */
export function hashText(prefix: string, bytes: Uint8Array, start: number, length: number): number | undefined {
  const size = prefix.length + length
  if (size + WORDS_BYTES > bytesOf.length) return undefined
  for (let i = 0; i < prefix.length; i += 1) bytesOf[i] = prefix.charCodeAt(i)
  for (let i = 0; i < length; i += 1) bytesOf[prefix.length + i] = bytes[start + i] ?? 0
  // The last words are filled up with zeros.
  for (let i = size; i < size + WORDS_BYTES; i += 1) bytesOf[i] = 0
  let a = (INITIAL + size) | 0
  let b = a
  let c = a
  let at = 0
  for (; size - at >= WORDS_BYTES; at += WORDS_BYTES) {
    a = (a + scratch.getInt32(at, true)) | 0
    b = (b + scratch.getInt32(at + 4, true)) | 0
    c = (c + scratch.getInt32(at + 8, true)) | 0
    a = ((a - c) | 0) ^ rotate(c, 4)
    c = (c + b) | 0
    b = ((b - a) | 0) ^ rotate(a, 6)
    a = (a + c) | 0
    c = ((c - b) | 0) ^ rotate(b, 8)
    b = (b + a) | 0
    a = ((a - c) | 0) ^ rotate(c, 16)
    c = (c + b) | 0
    b = ((b - a) | 0) ^ rotate(a, 19)
    a = (a + c) | 0
    c = ((c - b) | 0) ^ rotate(b, 4)
    b = (b + a) | 0
  }
  a = (a + scratch.getInt32(at, true)) | 0
  b = (b + scratch.getInt32(at + 4, true)) | 0
  // The lowest byte is kept for the length.
  c = (c + (scratch.getInt32(at + 8, true) << 8)) | 0
  c = ((c ^ b) - rotate(b, 14)) | 0
  a = ((a ^ c) - rotate(c, 11)) | 0
  b = ((b ^ a) - rotate(a, 25)) | 0
  c = ((c ^ b) - rotate(b, 16)) | 0
  a = ((a ^ c) - rotate(c, 4)) | 0
  b = ((b ^ a) - rotate(a, 14)) | 0
  return ((c ^ b) - rotate(b, 24)) | 0
}
