import { randomInt } from 'node:crypto'
import type { Test } from 'tap'
import { runScenario, type Scenario } from './scenario.ts'

/** A busy machine may take several times what a quiet one does. */
const ONE_MS = 300_000
/** Time left before tap ends a test, which would leave its processes running. */
const CLEAN_UP_MS = 15_000

export const SHORT_FORMS_MS = 1_200_000

/** Runs the short forms of scenarios, a subtest each, `atATime` in parallel. */
export async function runShortForms(t: Test, scenarios: readonly Scenario[], atATime: number): Promise<void> {
  t.jobs = atATime
  const runs = scenarios.map((scenario) =>
    t.test(`${scenario.name}: ${scenario.about}`, { timeout: ONE_MS, buffered: true }, async (t) => {
      const verdict = await runScenario(scenario, scenario.short, {
        progress: (line) => t.comment(line),
        signal: AbortSignal.timeout(ONE_MS - CLEAN_UP_MS),
        seed: randomInt(1, 1e9),
        sharesMachine: true,
      })
      t.comment([verdict.headline, ...verdict.figures].join('; '))
      t.strictSame(verdict.faults, [])
      if (verdict.outcome === 'FAIL')
        for (const [name, text] of verdict.logs) t.comment(`${name}: ${text.slice(-3_000)}`)
    }),
  )
  await Promise.all(runs)
}
