import { readFileSync } from 'node:fs'
import { type ScenarioContext, ScenarioSkipped } from './scenario-context.ts'

/** How much of it. */
export interface Extent {
  readonly rounds: number
  /** How long a fault lasts; of a scenario without faults, how long all of it takes. */
  readonly seconds: number
}

/** One kind of trouble, and the service in it. */
export interface Scenario {
  readonly name: string
  readonly about: string
  /** The whole soak, and the short form for the tests. */
  readonly full: Extent
  readonly short: Extent
  /** Reports figures and faults to the context; what it throws is a fault too. */
  readonly run: (context: ScenarioContext, extent: Extent) => Promise<void>
}

export interface Verdict {
  readonly name: string
  readonly outcome: 'PASS' | 'FAIL' | 'SKIP'
  readonly faults: readonly string[]
  readonly figures: readonly string[]
  readonly extent: Extent
  readonly tookSeconds: number
  /** What the processes printed, by name. */
  readonly logs: readonly (readonly [string, string])[]
}

export async function runScenario({ name, run }: Scenario, extent: Extent, context: ScenarioContext): Promise<Verdict> {
  const started = performance.now()
  const short = cpuPressureMs()
  let skipped = false
  try {
    await run(context, extent)
  } catch (error) {
    skipped = error instanceof ScenarioSkipped
    if (skipped) context.report(messageOf(error))
    else context.expect(false, error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  await context.cleanUp().catch((error: unknown) => context.expect(false, `clearing up failed: ${messageOf(error)}`))
  const tookMs = performance.now() - started
  if (short !== undefined) {
    const share = (((cpuPressureMs() ?? short) - short) / tookMs) * 100
    context.report(`the machine was short of processors for ${share.toFixed(0)}% of the time`)
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

/** For how long somebody on this machine had to wait for a processor so far; undefined where the kernel does not tell. */
function cpuPressureMs(): number | undefined {
  try {
    return Number(/^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1]) / 1000
  } catch {
    return undefined
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The verdict and how much was played, in one line; the figures are below it, a line each. */
export const formatHeadline = ({ outcome, name, extent: { rounds, seconds }, tookSeconds }: Verdict): string => {
  const much = [`${rounds} ${rounds === 1 ? 'round' : 'rounds'}`, ...(seconds > 0 ? [`of ${seconds} s`] : [])].join(' ')
  return `${outcome} ${name}: ${much}, played in ${tookSeconds.toFixed(0)} s`
}
