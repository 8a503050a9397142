import type { Finding } from '../finding.ts'

/**
 * What is looked at beside the reading of events, with another connection: the database has time for both. What it finds
 * counts once the events are read: whichever of the two is faster, an earlier fault of an event is not passed over.
 */
export type CheckRange = (from: number, upTo: number) => Promise<readonly Finding[]>

/** Looks at one piece of the ledger after the other. */
export class ConcurrentCheck {
  readonly #check: CheckRange
  /** All before it is looked at, or going to be. */
  #next: number
  #running: Promise<void> = Promise.resolve()
  readonly #findings: Finding[] = []

  constructor(look: CheckRange, from: number) {
    this.#check = look
    this.#next = from
  }

  /** Begins with what is not yet looked at up to a position, if anything, and goes up to another one then. */
  start(position: number, upTo: number): void {
    if (this.#next > position) return
    const from = this.#next
    this.#next = upTo + 1
    this.#running = this.#running.then(async () => void this.#findings.push(...(await this.#check(from, upTo))))
    // Whoever waits for it hears of it.
    this.#running.catch(() => {})
  }

  /** All that was found, when all that was begun is done. */
  async findings(): Promise<readonly Finding[]> {
    await this.#running
    return this.#findings
  }
}
