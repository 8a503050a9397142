import type { Finding } from '../finding.ts'

/** Checks a range of positions on a second connection while the events are scanned on the first. */
export type CheckRange = (from: number, upTo: number) => Promise<readonly Finding[]>

/**
 * Checks one range of the ledger after the other. The scan takes the findings at its end, so that they cannot stop it
 * before it finds an earlier event.
 */
export class ConcurrentCheck {
  readonly #check: CheckRange
  /** The first position of the next range. */
  #next: number
  #running: Promise<void> = Promise.resolve()
  readonly #findings: Finding[] = []

  constructor(check: CheckRange, from: number) {
    this.#check = check
    this.#next = from
  }

  /** Starts the next range, which ends at `upTo`, unless `position` was started already. */
  start(position: number, upTo: number): void {
    if (this.#next > position) return
    const from = this.#next
    this.#next = upTo + 1
    this.#running = this.#running.then(async () => void this.#findings.push(...(await this.#check(from, upTo))))
    // `findings` rejects with it.
    this.#running.catch(() => {})
  }

  /** All findings, once the ranges that were started are checked. */
  async findings(): Promise<readonly Finding[]> {
    await this.#running
    return this.#findings
  }
}
