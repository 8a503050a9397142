import { setTimeout as sleep } from 'node:timers/promises'

/** So many faults of a scenario are told; whoever has that many needs no more to start with. */
const MAX_FAULTS = 20

/** On a shared machine nothing that happens at all takes so long. */
const SHARED_LIMIT_MS = 100_000

/** A scenario cannot be played here. */
export class ScenarioSkipped extends Error {}

/** Where a scenario plays: collects its faults and figures, and clears up what it leaves behind. */
export class ScenarioContext {
  readonly signal: AbortSignal
  /** One line on how it goes. */
  readonly progress: (line: string) => void
  readonly faults: string[] = []
  readonly figures: string[] = []
  readonly #cleanUp = new AsyncDisposableStack()
  readonly #logs = new Map<string, () => string>()

  /**
   * Tests may share their machine: they wait for what is to happen however long that takes there, and their load leaves
   * some of it to others.
   */
  readonly sharesMachine: boolean

  constructor(progress: (line: string) => void, signal: AbortSignal, { sharesMachine = false } = {}) {
    this.progress = progress
    this.signal = signal
    this.sharesMachine = sharesMachine
  }

  /** To be done at the end, the last one first. */
  teardown(work: () => Promise<void>): void {
    this.#cleanUp.defer(work)
  }

  expect(holds: boolean, fault: string): void {
    if (!holds && this.faults.length < MAX_FAULTS) this.faults.push(fault)
  }

  report(figure: string): void {
    this.figures.push(figure)
  }

  /** What explains a fault afterwards: the output of a process. */
  attachLog(name: string, text: () => string): void {
    this.#logs.set(name, text)
  }

  logs(): readonly (readonly [string, string])[] {
    return [...this.#logs].map(([name, text]) => [name, text()])
  }

  /** A time limit, as it is judged where nothing else runs; a shared machine may be slow for any time, but not for ever. */
  limit(ms: number): number {
    return this.sharesMachine ? Math.max(ms, SHARED_LIMIT_MS) : ms
  }

  /** Rejects when the soak is interrupted. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.signal })
  }

  async cleanUp(): Promise<void> {
    await this.#cleanUp.disposeAsync()
  }
}
