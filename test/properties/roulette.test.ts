import * as fc from 'fast-check'
import { test } from 'tap'
import { compareWithModel, runAndVerify } from './compare.ts'
import { withModelHarness } from './harness/harness.ts'
import { rouletteBursts, rouletteSingleSteps } from './steps/steps.ts'

/** Fewer runs on a slow machine; time left to make a counterexample small. */
const limits = { interruptAfterTimeLimit: 8_000 }

test('roulette agrees with the model, one step at a time', async (t) => {
  await fc.assert(
    fc.asyncProperty(rouletteSingleSteps, (story) => withModelHarness((harness) => compareWithModel(harness, story))),
    { ...limits, numRuns: 25 },
  )
  t.pass()
})

test('roulette agrees with the model, many steps at once', async (t) => {
  await fc.assert(
    fc.asyncProperty(rouletteBursts, (story) => withModelHarness((harness) => compareWithModel(harness, story))),
    { ...limits, numRuns: 25 },
  )
  t.pass()
})

test('two instances keep the books of roulette, many steps at once', async (t) => {
  await fc.assert(
    fc.asyncProperty(rouletteBursts, (story) => withModelHarness((harness) => runAndVerify(harness, story))),
    { ...limits, numRuns: 20 },
  )
  t.pass()
})
