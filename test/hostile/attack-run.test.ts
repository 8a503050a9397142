import { randomInt } from 'node:crypto'
import tap, { test } from 'tap'
import { formatHeadline, runScenario } from '../harness/scenario/scenario.ts'
import { ScenarioContext } from '../harness/scenario/scenario-context.ts'
import { attackScenario } from './attack-run/attack-scenario.ts'

/** Before tap ends the test, which would leave its processes behind. */
const PATIENCE_MS = 500_000

tap.setTimeout(600_000)

test('a short attack run', { timeout: 550_000 }, async (t) => {
  // Another one each time: whoever sees it fail repeats it with `npm run hostile -- --seed`.
  const scenario = attackScenario({ requests: 2_000, pipelined: 500, thorough: false, seed: randomInt(1, 1e9) })
  t.comment(scenario.about)
  const progress = (line: string): void => t.comment(line)
  const verdict = await runScenario(
    scenario,
    scenario.short,
    new ScenarioContext(progress, AbortSignal.timeout(PATIENCE_MS), { sharesMachine: true }),
  )
  t.comment([formatHeadline(verdict), ...verdict.figures].join('; '))
  t.same(verdict.faults, [])
  if (verdict.outcome === 'FAIL') for (const [name, text] of verdict.logs) t.comment(`${name}: ${text.slice(-3_000)}`)
})
