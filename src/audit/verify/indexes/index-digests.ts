import { getRandomValues } from 'node:crypto'
import { PageReader } from '../../../ledger/indexes/index-pages.ts'
import {
  type IndexedEvent,
  type Term,
  termOfCode,
  visitFacts,
  visitMovement,
} from '../../../ledger/indexes/index-terms.ts'
import { BLOCK_EVENTS, baseOf, segmentEvents } from '../../../ledger/indexes/index-writer.ts'
import { missingColumn } from '../../../ledger/rules/event.ts'
import { exactSum } from '../../../ledger/rules/money.ts'
import type { Page } from '../../../ledger/storage/copy-rows.ts'
import type { EventRowReader } from '../../../ledger/storage/event-row-reader.ts'
import { parsePacked } from '../../../ledger/storage/packed-columns.ts'
import { IndexRowReader } from './index-row-reader.ts'

/** Blocks whose differences are kept together, in 8 bytes each: a ledger has a block for every 256 events. */
const CHUNK_BLOCKS = 4_096

/** Where the reader of stored pages is: pages of a segment come in the order of terms and events. */
interface Place {
  readonly segment: string
  readonly term: Term
  readonly offset: number
  /** What the term changed in the segment so far. */
  readonly sum: number | bigint
}

/**
 * Compares what the index says of the events with what follows from them, block by block: both as sums of digests, so that
 * neither has to wait for the other.
 */
export class IndexDigests {
  /**
   * For each block two words, the sums of the digests of its entries: of those that follow from the events, less those that
   * are stored. By the number of the chunk.
   */
  readonly #differences = new Map<number, Int32Array>()
  readonly #unreadable = new Set<number>()
  readonly #changes = new Map<Term, number | bigint>()
  #place: Place = { segment: '', term: '', offset: 0, sum: 0 }

  addEvent(rows: EventRowReader): void {
    const { position } = rows
    this.#changes.clear()
    try {
      rows.visitMovements(this.#addMovement)
      visitFacts(factsOf(rows), this.#addChange)
    } catch {
      // A finding already, and what the index says of it cannot be compared.
      this.#unreadable.add(baseOf(position))
      return
    }
    for (const [term, change] of this.#changes) this.#add(term, position, change, 1)
  }

  readonly #addMovement = (debit: string, credit: string, amount: number): void =>
    visitMovement(termOfCode(debit), termOfCode(credit), amount, this.#addChange)

  readonly #addChange = (term: Term, change: number): void => {
    this.#changes.set(term, exactSum(this.#changes.get(term) ?? 0, change))
  }

  /** Adds stored pages of one segment after another: what they say of the events after one position. */
  addStored(page: Page, after: number): void {
    for (const row = new IndexRowReader(page); row.next(); ) {
      const { base } = row
      try {
        this.#addPage(row, after)
      } catch {
        // What cannot be read is not what the service wrote, wherever it says that it belongs.
        this.#add('', base + 1, Number.NaN, -1)
      }
    }
  }

  #addPage(row: IndexRowReader, after: number): void {
    const { base, first, term: firstTerm } = row
    const segment = `${row.level}:${base}`
    let { term, offset, sum } = this.#place.segment === segment ? this.#place : { term: '', offset: 0, sum: 0 }
    const events = segmentEvents(row.level)
    const reader = new PageReader(row.data)
    let terms = 0
    for (; reader.nextTerm(); terms += 1) {
      const isFirst = terms === 0
      if (reader.term !== term) {
        if (reader.term < term) throw new Error('terms are not in order')
        ;({ term } = reader)
        offset = 0
        sum = 0
      } else if (!isFirst) throw new Error('a term comes twice')
      if (isFirst && (term !== firstTerm || BigInt(reader.before) !== BigInt(sum)))
        throw new Error('not what its row says')
      let found = 0
      for (; reader.nextPosting(); found += 1) {
        if (reader.offset <= offset || (isFirst && found === 0 && reader.offset !== first) || reader.offset > events)
          throw new Error('events are not in order')
        ;({ offset } = reader)
        sum = exactSum(sum, reader.change)
        if (base + offset > after) this.#add(term, base + offset, reader.change, -1)
      }
      if (found === 0) throw new Error('a term has no event')
    }
    if (terms === 0) throw new Error('a page is empty')
    this.#place = { segment, term, offset, sum }
  }

  /** The blocks before a position of which the index says something else than what follows from their events, in order. */
  differingBlocks(before: number): readonly number[] {
    const bases: number[] = []
    for (const [chunk, words] of this.#differences) {
      for (const [i, word] of words.entries()) {
        const base = (chunk * CHUNK_BLOCKS + (i >> 1)) * BLOCK_EVENTS
        if (word !== 0 && base < before && bases.at(-1) !== base && !this.#unreadable.has(base)) bases.push(base)
      }
    }
    return bases.toSorted((a, b) => a - b)
  }

  #add(term: Term, position: number, change: number | bigint, sign: 1 | -1): void {
    const block = baseOf(position) / BLOCK_EVENTS
    const chunk = Math.floor(block / CHUNK_BLOCKS)
    let words = this.#differences.get(chunk)
    if (words === undefined) this.#differences.set(chunk, (words = new Int32Array(2 * CHUNK_BLOCKS)))
    digest.restart()
    for (let i = 0; i < term.length; i += 1) digest.add(term.charCodeAt(i))
    digest.add(-term.length)
    digest.addInteger(position)
    digest.addInteger(change)
    digest.finish()
    const at = 2 * (block - chunk * CHUNK_BLOCKS)
    words[at] = (words[at] ?? 0) + sign * digest.a
    words[at + 1] = (words[at + 1] ?? 0) + sign * digest.b
  }
}

/** Throws where an event cannot be read, and therefore could not be indexed. */
function factsOf(rows: EventRowReader): Omit<IndexedEvent, 'movements'> {
  const { position, type, version, actor, requestId, idempotencyKey, at, hash } = rows
  if (hash === null) missingColumn(position, `hash at ${at}`)
  return { type, data: dataOf(rows), entry: { type, version, actor, requestId, idempotencyKey } }
}

/** None where it is no JSON object. */
function dataOf({ type, version, packedData }: EventRowReader): object {
  try {
    const data = parsePacked(type, version, packedData)
    return typeof data === 'object' && data !== null ? data : {}
  } catch {
    return {}
  }
}

/** Random for each run, so that nobody who changes rows can choose changes that have no effect on the sums of digests. */
const [keyA = 0, keyB = 0, lastKeyA = 0, lastKeyB = 0] = getRandomValues(new Int32Array(4))
const MULTIPLIER_A = 0x2c1b3c6d
const MULTIPLIER_B = 0x297a2d39
const HIGH_WORD = 2 ** 32

/** A digest, in two words of 32 bits, of the words that are added to it in their order. `finish` ends it. */
class KeyedDigest {
  a = keyA
  b = keyB

  /** As new. */
  restart(): void {
    this.a = keyA
    this.b = keyB
  }

  /** Adds the lower 32 bits of an integer. */
  add(word: number): void {
    const a = Math.imul(this.a ^ word, MULTIPLIER_A)
    const b = Math.imul(this.b ^ word, MULTIPLIER_B)
    this.a = a ^ (a >>> 15)
    this.b = b ^ (b >>> 13)
  }

  /** Before digests are summed, as the last words only reach a few bits: each then depends on all words and another key. */
  finish(): void {
    this.a = mixBits(this.a ^ lastKeyA)
    this.b = mixBits(this.b ^ lastKeyB)
  }

  /** Adds any integer; a number must be a safe one, a bigint beyond those. */
  addInteger(value: number | bigint): void {
    if (typeof value === 'number') {
      this.add(value)
      this.add(Math.floor(value / HIGH_WORD))
    } else {
      this.add(value < 0n ? -1 : 1)
      for (let rest = value < 0n ? -value : value; rest > 0n; rest >>= 32n) this.add(Number(rest & 0xffffffffn))
    }
  }
}

/** The last step of MurmurHash3: every bit of the result depends on every bit of the word. */
function mixBits(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

const digest = new KeyedDigest()
