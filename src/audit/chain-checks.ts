import { GENESIS } from '../ledger/chain.ts'
import type { PlacedEvent } from '../ledger/decider.ts'
import type { EventRows } from '../ledger/event-rows.ts'
import { evolveWith } from '../ledger/evolve.ts'
import { sha256 } from '../ledger/hash.ts'
import { missing, placedEvent, Unreadable } from '../ledger/recorded.ts'
import { Replay } from '../ledger/replay.ts'
import { isoMicros } from '../ledger/time.ts'
import type { Ending } from './checkpoint.ts'
import type { Check, FoundAt } from './finding.ts'
import { isLucky, LuckyChecks, luckyEvolvers } from './lucky-checks.ts'

/** The last event's position, hash and time. */
export interface LastEvent {
  readonly position: number
  readonly hash: string
  readonly at: number
}

/**
 * The first half of what is checked of every event, and all that costs hashes: order, columns, hash and time, each
 * against the event before, and lucky draws. Goes on after a finding as if what is stored were right, so that one wrong
 * event is one finding. The other half is `BookChecks`; neither needs anything of the other.
 */
export class ChainChecks {
  readonly #replay = new Replay(evolveWith(luckyEvolvers))
  readonly #draws = new LuckyChecks({
    fault: (position, message) => this.#find('draw', position, message),
    drawn: () => {},
  })
  #expected: Ending | undefined
  #found: FoundAt[] = []
  #count = 0
  #position = 0
  #hash = GENESIS
  #at = Number.NEGATIVE_INFINITY

  /** Before the first event 0, the genesis and no time. */
  get last(): LastEvent {
    return { position: this.#position, hash: this.#hash, at: this.#at }
  }

  /** At its position the ledger must have its hash. */
  expect(checkpoint: Ending): void {
    this.#expected = checkpoint
  }

  /** What was found since it was taken last. */
  take(): readonly FoundAt[] {
    const found = this.#found
    this.#found = []
    return found
  }

  check(rows: EventRows): void {
    const { position } = rows
    this.#count += 1
    const follows = this.#checkOrder(position)
    this.#position = position
    const before = this.#hash
    let check: Check = 'form'
    try {
      const { at, type, hash } = rows
      const canonical = rows.canonical(before)
      this.#hash = hash ?? missing(position, 'hash')
      if (position === this.#expected?.position) this.#checkExpected(position, this.#expected)
      check = 'hash'
      // Over a gap there is nothing that the hash could follow from.
      if (follows) this.#checkHash(position, sha256(canonical))
      if (at < this.#at) this.#find('time', position, `${isoMicros(at)} is before the time of the event before it`)
      this.#at = at
      check = 'form'
      if (isLucky(type)) this.#checkDraw(rows)
    } catch (error) {
      this.#hash = rows.hash ?? ''
      this.#find(check, position, error instanceof Error ? error.message : String(error))
    }
  }

  #checkDraw(rows: EventRows): void {
    const event = readable(rows)
    if (event === undefined) return
    this.#draws.check(event, this.#replay.rows)
    try {
      // Movements are no business of these rows.
      this.#replay.fold({ ...event, movements: [] })
    } catch {
      // What the rules have against it is told by the other half.
    }
  }

  #checkOrder(position: number): boolean {
    const expected = this.#position + 1
    if (position === expected) return true
    if (position > expected) this.#find('order', expected, `is missing; the next event is at ${position}`)
    else this.#find('order', position, `stands after position ${this.#position}`)
    return false
  }

  #checkHash(position: number, ought: string): void {
    if (this.#hash === ought) return
    this.#find('hash', position, `${this.#hash} does not follow from the event and the hash before it (${ought})`)
  }

  #checkExpected(position: number, checkpoint: Ending): void {
    const hash = this.#hash
    if (hash === checkpoint.hash) return
    const message = `what stands up to here was rewritten: its hash is ${hash}, and was ${checkpoint.hash} in the checkpoint of ${checkpoint.at}`
    this.#find('checkpoint', position, message)
  }

  #find(check: Check, position: number, message: string): void {
    this.#found.push({ finding: { check, position, message }, events: this.#count })
  }
}

/** Undefined when the event cannot be read, which the other half tells. */
function readable(rows: EventRows): PlacedEvent | undefined {
  try {
    return placedEvent(rows)
  } catch (error) {
    if (error instanceof Unreadable || error instanceof SyntaxError) return undefined
    throw error
  }
}
