import tap, { test } from 'tap'
import { skipUnlessWanted } from '../harness/long-tests.ts'
import { formatHeadline, runScenario } from '../harness/scenario/scenario.ts'
import { ScenarioContext } from '../harness/scenario/scenario-context.ts'
import { growth } from './scenarios/growth.ts'
import { overload } from './scenarios/overload.ts'
import { poisonedBatches } from './scenarios/poisoned-batches.ts'

/** Before tap ends a test, which would leave its processes behind. */
const PATIENCE_MS = 100_000

tap.setTimeout(330_000)

// What is judged by time is not among the tests: they may share their machine.
for (const scenario of [poisonedBatches, growth, overload]) {
  const skip = skipUnlessWanted(scenario !== poisonedBatches)
  test(`a short form of ${scenario.name}`, { timeout: PATIENCE_MS + 10_000, skip }, async (t) => {
    const progress = (line: string): void => t.comment(line)
    const context = new ScenarioContext(progress, AbortSignal.timeout(PATIENCE_MS), { sharesMachine: true })
    const verdict = await runScenario(scenario, scenario.short, context)
    t.comment([formatHeadline(verdict), ...verdict.figures].join('; '))
    t.same(verdict.faults, [])
  })
}
