import { test } from 'tap'
import { lineOf, play, type Scenario } from '../../scripts/soak/scenario.ts'

/** The short form of scenarios of the soak, a test each. */
export function plays(...scenarios: readonly Scenario[]): void {
  for (const scenario of scenarios) {
    test(`${scenario.name}: ${scenario.about}`, { timeout: 90_000 }, async (t) => {
      const say = (line: string): void => t.comment(line)
      const verdict = await play(scenario, scenario.short, say, new AbortController().signal)
      t.comment(lineOf(verdict))
      t.same(verdict.faults, [])
      if (verdict.outcome === 'FAIL')
        for (const [name, text] of verdict.logs) t.comment(`${name}: ${text.slice(-3_000)}`)
    })
  }
}
