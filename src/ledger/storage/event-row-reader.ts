import type { Movement } from '../rules/account.ts'
import { missingColumn, UnreadableEvent } from '../rules/event.ts'
import { isoMicros } from '../rules/time.ts'
import { type LedgerEntry, LINE_BREAK } from './event-hash.ts'
import { equalsAt, isReadByEvolversAt, Utf8Builder } from './text-bytes.ts'

const columns =
  'position,type,version,data,debit,credit,amount,actor,at,request_id,idempotency_key,reply_hash,hash'.split(',')
const POSITION = 0
const TYPE = 1
const VERSION = 2
const DATA = 3
const DEBIT = 4
const CREDIT = 5
const AMOUNT = 6
const ACTOR = 7
const AT = 8
const REQUEST_ID = 9
const IDEMPOTENCY_KEY = 10
const REPLY_HASH = 11
const HASH = 12

/** An event's columns unconverted, for `select ${binaryColumns} from ledger_events e`. */
export const binaryColumns = columns.map((column) => `e.${column}`).join(', ')

/** PostgreSQL counts microseconds from the year 2000. */
const POSTGRES_EPOCH_MICROS = 946_684_800_000_000
/** The years 1 to 9999: times beyond them have no ISO form of this length. */
const MIN_TIME_MICROS = -62_135_596_800_000_000
const MAX_TIME_MICROS = 253_402_300_800_000_000

const SPACE = 32
const SEMICOLON = 59
const text = new Utf8Builder()

/** An array's header, of 4 bytes each: dimensions, whether there are nulls, element type, length, lower bound. */
const ARRAY_HEADER_BYTES = 20

/**
 * Reads events from binary rows, one after the other, and decodes only the columns that are asked for. What cannot be
 * read throws `UnreadableEvent`.
 */
export class EventRowReader {
  readonly #bytes: Buffer
  readonly #view: DataView
  /** Where the next row begins. */
  #next = 0
  /** Each column's start and length; the length is -1 for null. */
  readonly #starts = new Int32Array(columns.length)
  readonly #lengths = new Int32Array(columns.length)

  /** A page from `copyBinaryRows`. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Moves to the next row; false when there is none. */
  next(): boolean {
    const view = this.#view
    if (this.#next === view.byteLength) return false
    // After the number of columns.
    let at = this.#next + 2
    for (let column = 0; column < columns.length; column += 1) {
      const length = view.getInt32(at)
      at += 4
      this.#starts[column] = at
      this.#lengths[column] = length
      if (length > 0) at += length
    }
    this.#next = at
    return true
  }

  /** 0 for null. */
  get position(): number {
    return this.#has(POSITION) ? int64(this.#view, this.#starts[POSITION] ?? 0) : 0
  }

  get type(): string {
    return this.#text(TYPE)
  }

  get version(): number {
    return this.#view.getInt16(this.#start(VERSION))
  }

  /** JSON text. */
  get data(): string {
    return this.#text(DATA)
  }

  get actor(): string {
    return this.#text(ACTOR)
  }

  get requestId(): string {
    return this.#text(REQUEST_ID)
  }

  /** Microseconds. */
  get at(): number {
    const at = int64(this.#view, this.#start(AT)) + POSTGRES_EPOCH_MICROS
    if (at < MIN_TIME_MICROS || at >= MAX_TIME_MICROS)
      throw new UnreadableEvent(`event ${this.position} has a time outside the years 1 to 9999`)
    return at
  }

  get hash(): string | null {
    return this.#has(HASH) ? this.#text(HASH) : null
  }

  get movements(): Movement[] {
    return this.#filterMovements(() => true)
  }

  /** The movements from or to an account whose balance evolvers may read. */
  get movementsReadByEvolvers(): Movement[] {
    const bytes = this.#bytes
    return this.#filterMovements(
      (debit, credit) => isItemReadByEvolvers(bytes, debit) || isItemReadByEvolvers(bytes, credit),
    )
  }

  /** The sum of its movements from one account to another. */
  amountMoved(from: string, to: string): number {
    const bytes = this.#bytes
    let sum = 0
    this.forEachMovement((debit, credit, amount) => {
      if (itemEquals(bytes, debit, from) && itemEquals(bytes, credit, to)) sum += amount
    })
    return sum
  }

  /** The page; `forEachMovement` gives offsets into it. */
  get bytes(): Buffer {
    return this.#bytes
  }

  /**
   * `canonicalText` of the stored row as UTF-8, made without decoding columns to strings. Valid until the next call of
   * any reader. The format is written twice for speed: one builder for both forms makes hashing new events a third
   * slower.
   */
  canonicalBytes(previous: string): Buffer {
    const bytes = this.#bytes
    text.clear()
    text.appendAscii(previous)
    text.appendByte(LINE_BREAK)
    text.appendNumber(this.position)
    text.appendByte(LINE_BREAK)
    this.#write(TYPE)
    text.appendByte(LINE_BREAK)
    text.appendNumber(this.version)
    text.appendByte(LINE_BREAK)
    text.appendAscii(isoMicros(this.at))
    text.appendByte(LINE_BREAK)
    this.#write(ACTOR)
    text.appendByte(LINE_BREAK)
    this.#write(REQUEST_ID)
    text.appendByte(LINE_BREAK)
    this.#writeOptional(IDEMPOTENCY_KEY)
    text.appendByte(LINE_BREAK)
    this.#writeOptional(REPLY_HASH)
    text.appendByte(LINE_BREAK)
    this.forEachMovement((debit, credit, amount) => {
      appendItem(bytes, debit)
      text.appendByte(SPACE)
      appendItem(bytes, credit)
      text.appendByte(SPACE)
      text.appendNumber(amount)
      text.appendByte(SEMICOLON)
    })
    text.appendByte(LINE_BREAK)
    this.#write(DATA)
    return text.bytes
  }

  /** The whole row. */
  get entry(): LedgerEntry {
    return {
      position: this.position,
      type: this.type,
      version: this.version,
      data: this.data,
      movements: this.movements,
      actor: this.actor,
      at: this.at,
      requestId: this.#text(REQUEST_ID),
      idempotencyKey: this.#has(IDEMPOTENCY_KEY) ? this.#text(IDEMPOTENCY_KEY) : null,
      replyHash: this.#has(REPLY_HASH) ? this.#text(REPLY_HASH) : null,
      hash: this.#text(HASH),
    }
  }

  /** Calls `visit` with the offsets of each movement's accounts, where their length precedes the name, and its amount. */
  forEachMovement(visit: (debit: number, credit: number, amount: number) => void): void {
    const view = this.#view
    const count = this.#elements(DEBIT)
    if (this.#elements(CREDIT) !== count || this.#elements(AMOUNT) !== count) {
      throw new UnreadableEvent(`event ${this.position} has different numbers of debits, credits and amounts`)
    }
    let debit = this.#start(DEBIT) + ARRAY_HEADER_BYTES
    let credit = this.#start(CREDIT) + ARRAY_HEADER_BYTES
    let amount = this.#start(AMOUNT) + ARRAY_HEADER_BYTES
    for (let i = 0; i < count; i += 1) {
      const length = view.getInt32(amount)
      visit(debit, credit, length < 0 ? Number.NaN : int64(view, amount + 4))
      debit += 4 + Math.max(0, view.getInt32(debit))
      credit += 4 + Math.max(0, view.getInt32(credit))
      amount += 4 + Math.max(0, length)
    }
  }

  #filterMovements(wanted: (debit: number, credit: number) => boolean): Movement[] {
    const bytes = this.#bytes
    const movements: Movement[] = []
    this.forEachMovement((debit, credit, amount) => {
      if (!wanted(debit, credit)) return
      movements.push({ debit: arrayItem(bytes, debit), credit: arrayItem(bytes, credit), amount })
    })
    return movements
  }

  #write(column: number): void {
    text.appendBytes(this.#bytes, this.#start(column), this.#lengths[column] ?? 0)
  }

  /** Null is written as nothing; an empty text would have the same bytes, so it is refused. */
  #writeOptional(column: number): void {
    if (!this.#has(column)) return
    if (this.#lengths[column] === 0) throw new UnreadableEvent(`event ${this.position} has an empty ${columns[column]}`)
    this.#write(column)
  }

  #has(column: number): boolean {
    return (this.#lengths[column] ?? -1) >= 0
  }

  #start(column: number): number {
    if (!this.#has(column)) missingColumn(this.position, columns[column] ?? '')
    return this.#starts[column] ?? 0
  }

  #text(column: number): string {
    const start = this.#start(column)
    return this.#bytes.toString('utf8', start, start + (this.#lengths[column] ?? 0))
  }

  /** The length of an array, which must have one dimension and start at 1, as all that the service writes do. */
  #elements(column: number): number {
    const start = this.#start(column)
    const dimensions = this.#view.getInt32(start)
    if (dimensions === 0) return 0
    if (dimensions !== 1 || this.#view.getInt32(start + ARRAY_HEADER_BYTES - 4) !== 1) {
      throw new UnreadableEvent(`event ${this.position} has no one-dimensional array of ${columns[column]}s`)
    }
    return this.#view.getInt32(start + ARRAY_HEADER_BYTES - 8)
  }
}

const NULL_TEXT = 'NULL'

/** A text element of an array; `at` is the offset of its length. */
export function arrayItem(bytes: Buffer, at: number): string {
  const length = bytes.readInt32BE(at)
  return length < 0 ? NULL_TEXT : bytes.toString('utf8', at + 4, at + 4 + length)
}

const itemEquals = (bytes: Buffer, at: number, name: string): boolean =>
  bytes.readInt32BE(at) === name.length && equalsAt(name, bytes, at + 4)

const isItemReadByEvolvers = (bytes: Buffer, at: number): boolean =>
  isReadByEvolversAt(bytes, at + 4, bytes.readInt32BE(at))

function appendItem(bytes: Buffer, at: number): void {
  const length = bytes.readInt32BE(at)
  if (length < 0) text.appendAscii(NULL_TEXT)
  else text.appendBytes(bytes, at + 4, length)
}

/** Exact up to 2^53, as all that the service writes is. */
const int64 = (view: DataView, at: number): number => view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4)
