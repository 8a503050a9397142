import { setTimeout as sleep } from 'node:timers/promises'

/** A scenario reports so many faults: more would not help to find the cause. */
const MAX_FAULTS = 20

/** Longer than anything takes even on a busy shared machine. */
const SHARED_LIMIT_MS = 100_000

/** The scenario cannot run on this machine. */
export class ScenarioSkipped extends Error {}

/** The context of a running scenario: collects its faults and figures, and cleans up after it. */
export class ScenarioContext {
  readonly signal: AbortSignal
  /** Prints a line of progress. */
  readonly progress: (line: string) => void
  readonly faults: string[] = []
  readonly figures: string[] = []
  readonly #cleanUp = new AsyncDisposableStack()
  readonly #logs = new Map<string, () => string>()

  /**
   * Whether the machine is shared, as in tests: then time limits are much longer, and load leaves some of the machine to
   * others.
   */
  readonly sharesMachine: boolean

  constructor(progress: (line: string) => void, signal: AbortSignal, { sharesMachine = false } = {}) {
    this.progress = progress
    this.signal = signal
    this.sharesMachine = sharesMachine
  }

  /** Adds work for the end of the scenario; the last one added runs first. */
  teardown(work: () => Promise<void>): void {
    this.#cleanUp.defer(work)
  }

  expect(holds: boolean, fault: string): void {
    if (!holds && this.faults.length < MAX_FAULTS) this.faults.push(fault)
  }

  report(figure: string): void {
    this.figures.push(figure)
  }

  /** Attaches the output of a process, to explain a fault. */
  attachLog(name: string, text: () => string): void {
    this.#logs.set(name, text)
  }

  logs(): readonly (readonly [string, string])[] {
    return [...this.#logs].map(([name, text]) => [name, text()])
  }

  /** A time limit: `ms` on a machine of its own, much longer on a shared one. */
  limit(ms: number): number {
    return this.sharesMachine ? Math.max(ms, SHARED_LIMIT_MS) : ms
  }

  /** Rejects when the run is interrupted. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal })
  }

  async cleanUp(): Promise<void> {
    await this.#cleanUp.disposeAsync()
  }
}
