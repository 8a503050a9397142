import { readFileSync } from 'node:fs'
import { type ScenarioContext, ScenarioSkipped } from './scenario-context.ts'

/** The length of a run. */
export interface Extent {
  readonly rounds: number
  /** Duration of a fault; of the whole run in a scenario without faults. */
  readonly seconds: number
}

/** The service under one kind of fault or load. */
export interface Scenario {
  readonly name: string
  readonly about: string
  /** For a full run, and for the tests. */
  readonly full: Extent
  readonly short: Extent
  /** Reports figures and faults to the context; an error that it throws is a fault, too. */
  readonly run: (context: ScenarioContext, extent: Extent) => Promise<void>
}

export interface Verdict {
  readonly name: string
  readonly outcome: 'PASS' | 'FAIL' | 'SKIP'
  readonly faults: readonly string[]
  readonly figures: readonly string[]
  readonly extent: Extent
  readonly tookSeconds: number
  /** Names and outputs of processes. */
  readonly logs: readonly (readonly [string, string])[]
}

export async function runScenario({ name, run }: Scenario, extent: Extent, context: ScenarioContext): Promise<Verdict> {
  const started = performance.now()
  const pressureBefore = cpuPressureMs()
  let skipped = false
  try {
    await run(context, extent)
  } catch (error) {
    skipped = error instanceof ScenarioSkipped
    if (skipped) context.report(messageOf(error))
    else context.expect(false, error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  await context.cleanUp().catch((error: unknown) => context.expect(false, `cleaning up failed: ${messageOf(error)}`))
  const tookMs = performance.now() - started
  if (pressureBefore !== undefined) {
    const share = (((cpuPressureMs() ?? pressureBefore) - pressureBefore) / tookMs) * 100
    context.report(`processes waited for a processor ${share.toFixed(0)}% of the time`)
  }
  return {
    name,
    outcome: context.faults.length > 0 ? 'FAIL' : skipped ? 'SKIP' : 'PASS',
    faults: context.faults,
    figures: context.figures,
    extent,
    tookSeconds: tookMs / 1000,
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

/** The verdict and the extent of the run, in one line. */
export const formatHeadline = ({ outcome, name, extent: { rounds, seconds }, tookSeconds }: Verdict): string => {
  const length = [`${rounds} ${rounds === 1 ? 'round' : 'rounds'}`, ...(seconds > 0 ? [`of ${seconds} s`] : [])].join(
    ' ',
  )
  return `${outcome} ${name}: ${length}, in ${tookSeconds.toFixed(0)} s`
}
