import type { Test } from 'tap'
import { onlyInFullRun } from '../long-tests.ts'
import { runs } from '../properties.ts'
import { runScenario, type Scenario } from './scenario.ts'

/** A busy machine may take many times what a quiet one does. A file has thirty minutes. */
const ALL_MS = 1_700_000
const ONE_MS = 1_500_000
/** Time left before tap ends a test, which would leave its processes running. */
const CLEAN_UP_MS = 15_000

/** Options of a test of short forms. */
export const inFullRun = { skip: onlyInFullRun, timeout: ALL_MS }

/** Runs the short forms of scenarios, a subtest each, two at a time, as they mostly wait. */
export async function runShortForms(t: Test, scenarios: readonly Scenario[]): Promise<void> {
  t.jobs = 2
  const running = scenarios.map((scenario) =>
    t.test(`${scenario.name}: ${scenario.about}`, { timeout: ONE_MS, buffered: true }, async (t) => {
      const verdict = await runScenario(scenario, scenario.short, {
        progress: (line) => t.comment(line),
        signal: AbortSignal.timeout(ONE_MS - CLEAN_UP_MS),
        seed: runs(1).seed,
        sharesMachine: true,
      })
      t.comment([verdict.headline, ...verdict.figures].join('; '))
      const logs =
        verdict.outcome === 'FAIL' ? verdict.logs.map(([name, text]) => `${name}: ${text.slice(-3_000)}`) : []
      t.strictSame(verdict.faults, [], verdict.headline, { logs })
    }),
  )
  await Promise.all(running)
}
