import type { Finding } from '../finding.ts'

/**
 * What is looked at beside the reading of events, with another connection: the database has time for both. What it finds
 * counts once the events are read: whichever of the two is faster, an earlier fault of an event is not passed over.
 */
export type LookBeside = (from: number, upTo: number) => Promise<readonly Finding[]>

/** Looks at one piece of the ledger after the other. */
export class Beside {
  readonly #look: LookBeside
  /** All before it is looked at, or going to be. */
  #next: number
  #looking: Promise<void> = Promise.resolve()
  readonly #found: Finding[] = []

  constructor(look: LookBeside, from: number) {
    this.#look = look
    this.#next = from
  }

  /** Begins with what is not yet looked at up to a position, if anything, and goes up to another one then. */
  begin(position: number, upTo: number): void {
    if (this.#next > position) return
    const from = this.#next
    this.#next = upTo + 1
    this.#looking = this.#looking.then(async () => void this.#found.push(...(await this.#look(from, upTo))))
    // Whoever waits for it hears of it.
    this.#looking.catch(() => {})
  }

  /** All that was found, when all that was begun is done. */
  async found(): Promise<readonly Finding[]> {
    await this.#looking
    return this.#found
  }
}
