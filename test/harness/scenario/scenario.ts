import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../random.ts'

/** The length of a run. */
export interface Extent {
  readonly rounds: number
  /** Duration of a disturbance; of the whole run in a scenario without any. */
  readonly seconds: number
}

/** The service under one kind of disturbance or load. */
export interface Scenario {
  readonly name: string
  readonly about: string
  /** For a full run, and for the tests. */
  readonly full: Extent
  readonly short: Extent
  /** Reports figures and faults to the context; an error that it throws is a fault, too. */
  readonly run: (context: ScenarioContext, extent: Extent) => Promise<void>
}

/** The scenario cannot run on this machine. */
export class ScenarioSkipped extends Error {}

/** A scenario reports so many faults: more would not help to find the cause. */
const MAX_FAULTS = 100
/** Longer than anything takes even on a busy shared machine. */
const SHARED_LIMIT_MS = 100_000
const POLL_MS = 20

interface ContextOptions {
  /** Prints a line of progress. */
  readonly progress: (line: string) => void
  readonly signal: AbortSignal
  readonly seed: number
  /**
   * Whether the machine is shared, as in tests: then time limits are much longer, and load leaves some of the machine to
   * others.
   */
  readonly sharesMachine: boolean
}

/** The context of a running scenario: collects its faults and figures, and cleans up after it. */
export class ScenarioContext {
  readonly signal: AbortSignal
  readonly progress: (line: string) => void
  readonly sharesMachine: boolean
  readonly random: Random
  readonly faults: string[] = []
  readonly figures: string[] = []
  readonly #cleanUp = new AsyncDisposableStack()
  readonly #logs = new Map<string, () => string>()

  constructor({ progress, signal, seed, sharesMachine }: ContextOptions) {
    this.progress = progress
    this.signal = signal
    this.sharesMachine = sharesMachine
    this.random = new Random(seed)
  }

  /** Adds work for the end of the scenario; the last one added runs first. */
  teardown(work: () => Promise<void>): void {
    this.#cleanUp.defer(work)
  }

  expect(isMet: boolean, fault: string): void {
    if (!isMet && this.faults.length < MAX_FAULTS) this.faults.push(fault)
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

  /** Waits for a condition; false when it was not met within the limit of so many milliseconds. */
  async waitFor(isMet: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
    const deadline = performance.now() + this.limit(withinMs)
    while (!(await isMet())) {
      if (performance.now() > deadline) return false
      await this.pause(POLL_MS)
    }
    return true
  }

  async cleanUp(): Promise<void> {
    await this.#cleanUp.disposeAsync()
  }
}

interface Verdict {
  readonly name: string
  readonly outcome: 'PASS' | 'FAIL' | 'SKIP'
  readonly faults: readonly string[]
  readonly figures: readonly string[]
  /** The outcome and the extent of the run, in one line. */
  readonly headline: string
  /** Names and outputs of processes. */
  readonly logs: readonly (readonly [string, string])[]
}

export async function runScenario({ name, run }: Scenario, extent: Extent, options: ContextOptions): Promise<Verdict> {
  const context = new ScenarioContext(options)
  const started = performance.now()
  const pressureBefore = cpuPressureMs()
  let isSkipped = false
  try {
    await run(context, extent)
  } catch (error) {
    isSkipped = error instanceof ScenarioSkipped
    if (isSkipped) context.report(messageOf(error))
    else context.expect(false, error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  await context.cleanUp().catch((error: unknown) => context.expect(false, `cleaning up failed: ${messageOf(error)}`))
  const tookMs = performance.now() - started
  if (pressureBefore !== undefined) {
    const share = (((cpuPressureMs() ?? pressureBefore) - pressureBefore) / tookMs) * 100
    context.report(`processes waited for a processor ${share.toFixed(0)}% of the time`)
  }
  const outcome = context.faults.length > 0 ? 'FAIL' : isSkipped ? 'SKIP' : 'PASS'
  const { rounds, seconds } = extent
  const length = `${rounds} ${rounds === 1 ? 'round' : 'rounds'}${seconds > 0 ? ` of ${seconds} s` : ''}`
  return {
    name,
    outcome,
    faults: context.faults,
    figures: context.figures,
    headline: `${outcome} ${name}: ${length}, seed ${options.seed}, in ${(tookMs / 1000).toFixed(0)} s`,
    logs: context.logs(),
  }
}

/** How long any process of this machine has waited for a processor so far; undefined when the kernel does not report it. */
function cpuPressureMs(): number | undefined {
  try {
    return Number(/^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1]) / 1000
  } catch {
    return undefined
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
