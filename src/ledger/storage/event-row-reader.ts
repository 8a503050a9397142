import type { Movement } from '../rules/account.ts'
import { missingColumn, UnreadableEvent } from '../rules/event.ts'
import { isoMicros } from '../rules/time.ts'
import { type LedgerEntry, LINE_BREAK } from './event-hash.ts'
import { appendData, appendId, appendMovements, unpackId, unpackMovements, visitPacked } from './packed-columns.ts'
import { Utf8Builder } from './text-bytes.ts'

const columns = 'position,type,version,data,movements,actor,at,request_id,idempotency_key,reply_hash,hash'.split(',')
const POSITION = 0
const TYPE = 1
const VERSION = 2
const DATA = 3
const MOVEMENTS = 4
const ACTOR = 5
const AT = 6
const REQUEST_ID = 7
const IDEMPOTENCY_KEY = 8
const REPLY_HASH = 9
const HASH = 10

/** An event's columns unconverted, for `select ${binaryColumns} from ledger_events e`. */
export const binaryColumns = columns.map((column) => `e.${column}`).join(', ')

/** PostgreSQL counts microseconds from the year 2000. */
const POSTGRES_EPOCH_MICROS = 946_684_800_000_000
/** The years 1 to 9999: times beyond them have no ISO form of this length. */
const MIN_TIME_MICROS = -62_135_596_800_000_000
const MAX_TIME_MICROS = 253_402_300_800_000_000

const text = new Utf8Builder()

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
  /** That of this row, once it was read. */
  #type: string | undefined

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
    this.#type = undefined
    return true
  }

  /** 0 for null. */
  get position(): number {
    return this.#has(POSITION) ? int64(this.#view, this.#starts[POSITION] ?? 0) : 0
  }

  get type(): string {
    return (this.#type ??= this.#text(TYPE))
  }

  get version(): number {
    return this.#view.getInt16(this.#start(VERSION))
  }

  /** JSON text. */
  get data(): string {
    text.clear()
    this.#writeData()
    return text.bytes.toString()
  }

  /** For `parsePacked`. */
  get packedData(): string {
    return this.#text(DATA)
  }

  get actor(): string {
    return this.#text(ACTOR)
  }

  get requestId(): string {
    return this.#id(REQUEST_ID) ?? missingColumn(this.position, 'request_id')
  }

  get idempotencyKey(): string | null {
    return this.#id(IDEMPOTENCY_KEY)
  }

  /** Microseconds. */
  get at(): number {
    const at = int64(this.#view, this.#start(AT)) + POSTGRES_EPOCH_MICROS
    if (at < MIN_TIME_MICROS || at >= MAX_TIME_MICROS)
      throw new UnreadableEvent(`event ${this.position} has a time outside the years 1 to 9999`)
    return at
  }

  get hash(): string | null {
    return this.#hex(HASH)
  }

  get movements(): Movement[] {
    return unpackMovements(this.#ascii(MOVEMENTS))
  }

  /** The movements from or to an account whose balance evolvers may read. */
  get movementsReadByEvolvers(): Movement[] {
    return unpackMovements(this.#ascii(MOVEMENTS), 'read by evolvers')
  }

  /** As `visitPacked`, for all movements. */
  visitMovements(visit: (debit: string, credit: string, amount: number) => void): void {
    visitPacked(this.#ascii(MOVEMENTS), visit)
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
    let isPacked = appendId(text, bytes, this.#start(REQUEST_ID), this.#length(REQUEST_ID))
    text.appendByte(LINE_BREAK)
    if (this.#hasText(IDEMPOTENCY_KEY))
      isPacked = appendId(text, bytes, this.#start(IDEMPOTENCY_KEY), this.#length(IDEMPOTENCY_KEY)) && isPacked
    text.appendByte(LINE_BREAK)
    if (this.#hasText(REPLY_HASH)) text.appendHex(bytes, this.#start(REPLY_HASH), this.#length(REPLY_HASH))
    text.appendByte(LINE_BREAK)
    isPacked = appendMovements(text, bytes, this.#start(MOVEMENTS), this.#length(MOVEMENTS)) && isPacked
    text.appendByte(LINE_BREAK)
    isPacked = this.#writeData() && isPacked
    if (!isPacked) throw new UnreadableEvent(`event ${this.position} is not packed as events are`)
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
      requestId: this.requestId,
      idempotencyKey: this.idempotencyKey,
      replyHash: this.#hex(REPLY_HASH),
      hash: this.hash ?? missingColumn(this.position, 'hash'),
    }
  }

  #write(column: number): void {
    text.appendBytes(this.#bytes, this.#start(column), this.#length(column))
  }

  /** Null is written as nothing; an empty text would have the same bytes, so it is refused. */
  #hasText(column: number): boolean {
    if (this.#lengths[column] === 0) throw new UnreadableEvent(`event ${this.position} has an empty ${columns[column]}`)
    return this.#has(column)
  }

  /** As `appendData`. */
  #writeData(): boolean {
    return appendData(text, this.#bytes, this.#start(DATA), this.#length(DATA), this.type, this.version)
  }

  #id(column: number): string | null {
    return this.#has(column) ? unpackId(this.#bytesOf(column)) : null
  }

  #hex(column: number): string | null {
    return this.#has(column) ? this.#bytesOf(column).toString('hex') : null
  }

  #bytesOf(column: number): Buffer {
    const start = this.#start(column)
    return this.#bytes.subarray(start, start + this.#length(column))
  }

  #has(column: number): boolean {
    return (this.#lengths[column] ?? -1) >= 0
  }

  #length(column: number): number {
    return this.#lengths[column] ?? 0
  }

  #start(column: number): number {
    if (!this.#has(column)) missingColumn(this.position, columns[column] ?? '')
    return this.#starts[column] ?? 0
  }

  #text(column: number): string {
    const start = this.#start(column)
    return this.#bytes.toString('utf8', start, start + this.#length(column))
  }

  /** What has other characters is packed by nobody, and does not have to be read as they are. */
  #ascii(column: number): string {
    const start = this.#start(column)
    return this.#bytes.toString('latin1', start, start + this.#length(column))
  }
}

/** Exact up to 2^53, as all that the service writes is. */
const int64 = (view: DataView, at: number): number => view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4)
