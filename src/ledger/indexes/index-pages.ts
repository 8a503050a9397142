import { exactSum } from '../rules/money.ts'
import { isAccountTerm, type Term } from './index-terms.ts'

/**
 * A segment of the index: the terms of the events of a range in order, each with the offsets of its events in the range
 * (from 1) and, for accounts, what each event changed. It is stored in pages, rows of some 1,500 bytes.
 *
 * A page begins with the sum of what its first term changed on pages before. Then for each term: how many bytes it shares
 * with the term before, how many follow, these; for each event the distance from the offset before and, for an account, the
 * change; and a 0. Numbers are in LEB128, signed ones zigzag.
 */
export interface IndexPage {
  readonly term: Term
  /** The offset of its first event. */
  readonly first: number
  readonly data: Buffer
}

const PAGE_BYTES = 1_500
/** No term or number is longer. */
const MARGIN = 256

/** Makes pages of postings that come in the order of terms and offsets. */
export class PageWriter {
  readonly #emit: (page: IndexPage) => void
  readonly #bytes = Buffer.allocUnsafe(PAGE_BYTES + MARGIN)
  #length = 0
  #firstTerm = ''
  #firstOffset = 0
  #term = ''
  #hasAmounts = false
  #offset = 0
  #sum: number | bigint = 0

  constructor(emit: (page: IndexPage) => void) {
    this.#emit = emit
  }

  add(term: Term, offset: number, change: number | bigint): void {
    const isNew = term !== this.#term
    if (this.#length >= PAGE_BYTES || this.#length === 0) {
      this.finish()
      if (isNew) this.#sum = 0
      this.#firstTerm = term
      this.#firstOffset = offset
      this.#signed(this.#sum)
      this.#begin(term, 0)
    } else if (isNew) {
      this.#bytes[this.#length++] = 0
      this.#sum = 0
      this.#begin(term, sharedLength(term, this.#term))
    }
    this.#unsigned(offset - this.#offset)
    this.#offset = offset
    if (!this.#hasAmounts) return
    this.#signed(change)
    this.#sum = exactSum(this.#sum, change)
  }

  /** Emits the page so far. */
  finish(): void {
    if (this.#length === 0) return
    this.#bytes[this.#length++] = 0
    this.#emit({
      term: this.#firstTerm,
      first: this.#firstOffset,
      data: Buffer.from(this.#bytes.subarray(0, this.#length)),
    })
    this.#length = 0
  }

  #begin(term: Term, shared: number): void {
    this.#unsigned(shared)
    this.#unsigned(term.length - shared)
    for (let i = shared; i < term.length; i += 1) this.#bytes[this.#length++] = term.charCodeAt(i)
    this.#term = term
    this.#hasAmounts = isAccountTerm(term)
    this.#offset = 0
  }

  #unsigned(value: number): void {
    let rest = value
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.#bytes[this.#length++] = (rest % 128) | 0x80
    this.#bytes[this.#length++] = rest
  }

  #signed(value: number | bigint): void {
    const zigzag = value < 0 ? -2 * Number(value) - 1 : 2 * Number(value)
    if (Number.isSafeInteger(zigzag)) return this.#unsigned(zigzag)
    let rest = value < 0 ? -2n * BigInt(value) - 1n : 2n * BigInt(value)
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80
    this.#bytes[this.#length++] = Number(rest)
  }
}

function sharedLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1
  return length
}

/** Bytes that no `PageWriter` wrote. */
class UnreadablePage extends Error {}

/** Reads the terms of a page one after the other, and of each the postings. */
export class PageReader {
  readonly #bytes: Buffer
  #at = 0
  #isInTerm = false
  #hasAmounts = false
  /** What the first term changed on pages before. */
  readonly before: number | bigint
  term: Term = ''
  offset = 0
  /** What the event at `offset` changed. */
  change: number | bigint = 0

  constructor(data: Buffer) {
    this.#bytes = data
    this.before = this.#signed()
  }

  /** Moves to the next term, past what is left of this one; false at the end. */
  nextTerm(): boolean {
    while (this.#isInTerm) this.nextPosting()
    if (this.#at >= this.#bytes.length) return false
    const shared = this.#unsigned()
    const length = this.#unsigned()
    if (shared > this.term.length || this.#at + length > this.#bytes.length) throw new UnreadablePage('a term is cut')
    this.term = this.term.slice(0, shared) + this.#bytes.toString('latin1', this.#at, this.#at + length)
    this.#at += length
    this.#hasAmounts = isAccountTerm(this.term)
    this.#isInTerm = true
    this.offset = 0
    return true
  }

  /** Moves to the next posting of the term; false at its end. */
  nextPosting(): boolean {
    const distance = this.#unsigned()
    if (distance === 0) return (this.#isInTerm = false)
    this.offset += distance
    this.change = this.#hasAmounts ? this.#signed() : 0
    return true
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw new UnreadablePage('the page is cut')
    return byte
  }

  #unsigned(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }

  #signed(): number | bigint {
    const start = this.#at
    const zigzag = this.#unsigned()
    if (Number.isSafeInteger(zigzag)) return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
    let exact = 0n
    for (let i = this.#at - 1; i >= start; i -= 1) exact = exact * 128n + BigInt((this.#bytes[i] ?? 0) & 0x7f)
    return exactSum(exact % 2n === 0n ? exact / 2n : -(exact + 1n) / 2n, 0)
  }
}
