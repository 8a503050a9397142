import * as fc from 'fast-check'
import { test } from 'tap'
import { runs } from '../harness/properties.ts'
import { compareWithModel, runAndVerify } from './compare.ts'
import { withModelHarness } from './harness/harness.ts'
import { bursts, rouletteBursts, rouletteSingleSteps, singleSteps } from './steps/steps.ts'

for (const [name, stories, check] of [
  ['the service agrees with the model, one step at a time', singleSteps, compareWithModel],
  ['the service agrees with the model, many steps at once', bursts, compareWithModel],
  ['roulette agrees with the model, one step at a time', rouletteSingleSteps, compareWithModel],
  ['roulette agrees with the model, many steps at once', rouletteBursts, compareWithModel],
  ['two instances keep the books, one step at a time', singleSteps, runAndVerify],
  ['two instances keep the books, many steps at once', bursts, runAndVerify],
  ['two instances keep the books of roulette, many steps at once', rouletteBursts, runAndVerify],
] as const) {
  test(name, async (t) => {
    const holds = fc.asyncProperty(stories, (story) => withModelHarness((harness) => check(harness, story)))
    await fc.assert(holds, runs(3))
    t.pass()
  })
}
