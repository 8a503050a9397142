import type { Finding } from '../finding.ts'

/** Checks a range of positions on a second connection while the events are scanned on the first. */
export type CheckRange = (from: number, upTo: number) => Promise<readonly Finding[]>

/**
 * Checks one range of the ledger after the other. The scan takes the findings at its end, so that they cannot stop it
 * before it finds an earlier event.
 */
export class ConcurrentCheck {
  readonly #check: CheckRange
  #running: Promise<void> = Promise.resolve()
  readonly #findings: Finding[] = []

  constructor(check: CheckRange) {
    this.#check = check
  }

  /** Starts a range, once those before it are checked. */
  start(from: number, upTo: number): void {
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
