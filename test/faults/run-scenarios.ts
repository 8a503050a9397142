import tap, { test } from 'tap'
import { skipUnlessWanted } from '../harness/long-tests.ts'
import { formatHeadline, runScenario, type Scenario } from '../harness/scenario/scenario.ts'
import { ScenarioContext } from '../harness/scenario/scenario-context.ts'

/** A busy machine may take several times what a quiet one does. */
const ONE_MS = 300_000
const FILE_MS = 900_000
/** Time left before tap ends a test, which would leave its processes running. */
const CLEAR_UP_MS = 15_000

/** Runs the short form of soak scenarios, a test each, `atATime` in parallel. */
export function runScenarios(
  { short = [], long = [] }: { readonly short?: readonly Scenario[]; readonly long?: readonly Scenario[] },
  atATime = 1,
): void {
  tap.setTimeout(FILE_MS)
  tap.jobs = atATime
  for (const scenario of [...short, ...long]) {
    const skip = skipUnlessWanted(long.includes(scenario))
    test(`${scenario.name}: ${scenario.about}`, { timeout: ONE_MS, buffered: true, skip }, async (t) => {
      const progress = (line: string): void => t.comment(line)
      const signal = AbortSignal.timeout(ONE_MS - CLEAR_UP_MS)
      const verdict = await runScenario(
        scenario,
        scenario.short,
        new ScenarioContext(progress, signal, { sharesMachine: true }),
      )
      t.comment([formatHeadline(verdict), ...verdict.figures].join('; '))
      t.same(verdict.faults, [])
      if (verdict.outcome === 'FAIL')
        for (const [name, text] of verdict.logs) t.comment(`${name}: ${text.slice(-3_000)}`)
    })
  }
}
