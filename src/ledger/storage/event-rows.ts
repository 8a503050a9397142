import { endOfMessage, MESSAGE_HEADER, ROW } from '../../db/copy-out.ts'
import type { Movement } from '../rules/movement.ts'
import { isoMicros } from '../rules/time.ts'
import { missing, Unreadable } from '../rules/unreadable.ts'
import { ByteText } from './bytes/byte-text.ts'
import { isAt, nameIn } from './bytes/names.ts'
import { type ChainedEntry, LINE_BREAK } from './event-hash.ts'
import { isWatchedAt } from './watched.ts'

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

/** An event's columns as PostgreSQL has them; for `select ${storedColumns} from ledger_events e`. */
export const storedColumns = columns.map((column) => `e.${column}`).join(', ')

/** PostgreSQL counts microseconds from 2000 on. */
const EPOCH = 946_684_800_000_000
/** The years 1 to 9999, between which stands all that is printed as a time. */
const FIRST = -62_135_596_800_000_000
const LAST = 253_402_300_800_000_000

const SPACE = 32
const SEMICOLON = 59
const text = new ByteText()

/** Before the elements of a list: how many dimensions, whether some are null, of which type, how many, from which on. */
const LIST_HEADER = 20

/**
 * Reads events from the bytes of their rows, one after the other, and of each only what is asked for. Whatever cannot
 * be had throws `Unreadable`.
 */
export class EventRows {
  readonly #bytes: Buffer
  readonly #view: DataView
  /** Where the next row begins. */
  #next = 0
  /** Of each column where it begins, and how long it is; -1 when it is null. */
  readonly #starts = new Int32Array(columns.length)
  readonly #lengths = new Int32Array(columns.length)

  /** A page as `copiedBytes` has it. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Goes on to the next row; false when there is none. */
  next(): boolean {
    const view = this.#view
    let at = this.#next
    let end = at
    do {
      if (end >= view.byteLength) return false
      at = end
      end = endOfMessage(this.#bytes, at)
      // After all rows comes one of -1 columns.
    } while (this.#bytes[at] !== ROW || view.getInt16(at + MESSAGE_HEADER) < 0)
    this.#next = end
    at += MESSAGE_HEADER + 2
    for (let column = 0; column < columns.length; column += 1) {
      const length = view.getInt32(at)
      at += 4
      this.#starts[column] = at
      this.#lengths[column] = length
      if (length > 0) at += length
    }
    return true
  }

  /** 0 when there is none. */
  get position(): number {
    return this.#has(POSITION) ? int64(this.#view, this.#starts[POSITION] ?? 0) : 0
  }

  get type(): string {
    return this.#name(TYPE)
  }

  get version(): number {
    return this.#view.getInt16(this.#start(VERSION))
  }

  /** JSON text. */
  get data(): string {
    return this.#text(DATA)
  }

  /** Microseconds. */
  get at(): number {
    const at = int64(this.#view, this.#start(AT)) + EPOCH
    if (at < FIRST || at >= LAST) throw new Unreadable(`event ${this.position} has no time that can be told`)
    return at
  }

  /** Null when there is none. */
  get hash(): string | null {
    return this.#has(HASH) ? this.#text(HASH) : null
  }

  get movements(): Movement[] {
    return this.#movementsThat(() => true)
  }

  /** Of its movements those from or to a watched account. */
  get watchedMovements(): Movement[] {
    const bytes = this.#bytes
    return this.#movementsThat((debit, credit) => isListedWatched(bytes, debit) || isListedWatched(bytes, credit))
  }

  /** How much it moves from one account to another. */
  paid(from: string, to: string): number {
    const bytes = this.#bytes
    let sum = 0
    this.eachMovement((debit, credit, amount) => {
      if (isListed(bytes, debit, from) && isListed(bytes, credit, to)) sum += amount
    })
    return sum
  }

  /** The page, in which accounts of movements stand. */
  get bytes(): Buffer {
    return this.#bytes
  }

  /**
   * The bytes of `canonical` over what is stored, for which no text is made of what is bytes already. They are there
   * until they are asked for again.
   */
  canonical(previous: string): Buffer {
    const bytes = this.#bytes
    text.clear()
    text.ascii(previous)
    text.letter(LINE_BREAK)
    text.number(this.position)
    text.letter(LINE_BREAK)
    this.#write(TYPE)
    text.letter(LINE_BREAK)
    text.number(this.version)
    text.letter(LINE_BREAK)
    text.ascii(isoMicros(this.at))
    text.letter(LINE_BREAK)
    this.#write(ACTOR)
    text.letter(LINE_BREAK)
    this.#write(REQUEST_ID)
    text.letter(LINE_BREAK)
    this.#writeIfAny(IDEMPOTENCY_KEY)
    text.letter(LINE_BREAK)
    this.#writeIfAny(REPLY_HASH)
    text.letter(LINE_BREAK)
    this.eachMovement((debit, credit, amount) => {
      writeListed(bytes, debit)
      text.letter(SPACE)
      writeListed(bytes, credit)
      text.letter(SPACE)
      text.number(amount)
      text.letter(SEMICOLON)
    })
    text.letter(LINE_BREAK)
    this.#write(DATA)
    return text.bytes
  }

  /** All that is stored. */
  get entry(): ChainedEntry {
    return {
      position: this.position,
      type: this.type,
      version: this.version,
      data: this.data,
      movements: this.movements,
      actor: this.#name(ACTOR),
      at: this.at,
      requestId: this.#text(REQUEST_ID),
      idempotencyKey: this.#has(IDEMPOTENCY_KEY) ? this.#text(IDEMPOTENCY_KEY) : null,
      replyHash: this.#has(REPLY_HASH) ? this.#text(REPLY_HASH) : null,
      hash: this.#text(HASH),
    }
  }

  /** Calls for each movement with where its accounts stand, before each of which is its length, and its amount. */
  eachMovement(visit: (debit: number, credit: number, amount: number) => void): void {
    const view = this.#view
    const count = this.#elements(DEBIT)
    if (this.#elements(CREDIT) !== count || this.#elements(AMOUNT) !== count) {
      throw new Unreadable(`event ${this.position} has not as many accounts as amounts`)
    }
    let debit = this.#start(DEBIT) + LIST_HEADER
    let credit = this.#start(CREDIT) + LIST_HEADER
    let amount = this.#start(AMOUNT) + LIST_HEADER
    for (let i = 0; i < count; i += 1) {
      const length = view.getInt32(amount)
      visit(debit, credit, length < 0 ? Number.NaN : int64(view, amount + 4))
      debit += 4 + Math.max(0, view.getInt32(debit))
      credit += 4 + Math.max(0, view.getInt32(credit))
      amount += 4 + Math.max(0, length)
    }
  }

  #movementsThat(wanted: (debit: number, credit: number) => boolean): Movement[] {
    const bytes = this.#bytes
    const movements: Movement[] = []
    this.eachMovement((debit, credit, amount) => {
      if (!wanted(debit, credit)) return
      movements.push({ debit: listed(bytes, debit), credit: listed(bytes, credit), amount })
    })
    return movements
  }

  #write(column: number): void {
    text.piece(this.#bytes, this.#start(column), this.#lengths[column] ?? 0)
  }

  /** Nothing is none, and has no other form: both would have the same bytes. */
  #writeIfAny(column: number): void {
    if (!this.#has(column)) return
    if (this.#lengths[column] === 0) throw new Unreadable(`event ${this.position} has an empty ${columns[column]}`)
    this.#write(column)
  }

  #has(column: number): boolean {
    return (this.#lengths[column] ?? -1) >= 0
  }

  #start(column: number): number {
    if (!this.#has(column)) missing(this.position, columns[column] ?? '')
    return this.#starts[column] ?? 0
  }

  #text(column: number): string {
    const start = this.#start(column)
    return this.#bytes.toString('utf8', start, start + (this.#lengths[column] ?? 0))
  }

  #name(column: number): string {
    return nameIn(this.#bytes, this.#start(column), this.#lengths[column] ?? 0)
  }

  /** How many elements a list has. It begins with the first, as every list of the service's does. */
  #elements(column: number): number {
    const start = this.#start(column)
    const dimensions = this.#view.getInt32(start)
    if (dimensions === 0) return 0
    if (dimensions !== 1 || this.#view.getInt32(start + LIST_HEADER - 4) !== 1) {
      throw new Unreadable(`event ${this.position} has no plain list of ${columns[column]}s`)
    }
    return this.#view.getInt32(start + LIST_HEADER - 8)
  }
}

const NULL = 'NULL'

/** A name in a list, before which stands its length. */
export function listed(bytes: Buffer, at: number): string {
  const length = bytes.readInt32BE(at)
  return length < 0 ? NULL : nameIn(bytes, at + 4, length)
}

const isListed = (bytes: Buffer, at: number, name: string): boolean =>
  bytes.readInt32BE(at) === name.length && isAt(name, bytes, at + 4)

const isListedWatched = (bytes: Buffer, at: number): boolean => isWatchedAt(bytes, at + 4, bytes.readInt32BE(at))

function writeListed(bytes: Buffer, at: number): void {
  const length = bytes.readInt32BE(at)
  if (length < 0) text.ascii(NULL)
  else text.piece(bytes, at + 4, length)
}

/** As a number: exact up to 2^53, as all that the service writes is. */
const int64 = (view: DataView, at: number): number => view.getInt32(at) * 2 ** 32 + view.getUint32(at + 4)
