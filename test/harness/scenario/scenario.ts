import { readFileSync } from 'node:fs'
import { Skipped, type Stage } from './scenario-context.ts'

/** How much of it. */
export interface Measure {
  readonly rounds: number
  /** How long a fault lasts; of a scenario without faults, how long all of it takes. */
  readonly seconds: number
}

/** One kind of trouble, and the service in it. */
export interface Scenario {
  readonly name: string
  readonly about: string
  /** The whole soak, and the short form for the tests. */
  readonly full: Measure
  readonly short: Measure
  /** Tells figures and faults to the stage; what it throws is a fault too. */
  readonly play: (stage: Stage, measure: Measure) => Promise<void>
}

export interface Verdict {
  readonly name: string
  readonly outcome: 'PASS' | 'FAIL' | 'SKIP'
  readonly faults: readonly string[]
  readonly figures: readonly string[]
  readonly measure: Measure
  readonly tookSeconds: number
  /** What the processes printed, by name. */
  readonly logs: readonly (readonly [string, string])[]
}

export async function play({ name, play }: Scenario, measure: Measure, stage: Stage): Promise<Verdict> {
  const started = performance.now()
  const short = shortMs()
  let skipped = false
  try {
    await play(stage, measure)
  } catch (error) {
    skipped = error instanceof Skipped
    if (skipped) stage.tell(messageOf(error))
    else stage.expect(false, error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  await stage.clearUp().catch((error: unknown) => stage.expect(false, `clearing up failed: ${messageOf(error)}`))
  const tookMs = performance.now() - started
  if (short !== undefined) {
    const share = (((shortMs() ?? short) - short) / tookMs) * 100
    stage.tell(`the machine was short of processors for ${share.toFixed(0)}% of the time`)
  }
  return {
    name,
    outcome: stage.faults.length > 0 ? 'FAIL' : skipped ? 'SKIP' : 'PASS',
    faults: stage.faults,
    figures: stage.figures,
    measure,
    tookSeconds: tookMs / 1000,
    logs: stage.logs(),
  }
}

/** For how long somebody on this machine had to wait for a processor so far; undefined where the kernel does not tell. */
function shortMs(): number | undefined {
  try {
    return Number(/^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1]) / 1000
  } catch {
    return undefined
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The verdict and how much was played, in one line; the figures are below it, a line each. */
export const headlineOf = ({ outcome, name, measure: { rounds, seconds }, tookSeconds }: Verdict): string => {
  const much = [`${rounds} ${rounds === 1 ? 'round' : 'rounds'}`, ...(seconds > 0 ? [`of ${seconds} s`] : [])].join(' ')
  return `${outcome} ${name}: ${much}, played in ${tookSeconds.toFixed(0)} s`
}
