import * as fc from 'fast-check'
import { test } from 'tap'
import { compareWithModel } from './compare.ts'
import { withModelHarness } from './harness/harness.ts'
import { bursts, singleSteps } from './steps/steps.ts'

/** Fewer runs on a slow machine; time left to make a counterexample small. */
const limits = { interruptAfterTimeLimit: 9_000 }

test('the service agrees with the model, one step at a time', async (t) => {
  await fc.assert(
    fc.asyncProperty(singleSteps, (story) => withModelHarness((harness) => compareWithModel(harness, story))),
    { ...limits, numRuns: 28 },
  )
  t.pass()
})

test('the service agrees with the model, many steps at once', async (t) => {
  await fc.assert(
    fc.asyncProperty(bursts, (story) => withModelHarness((harness) => compareWithModel(harness, story))),
    { ...limits, numRuns: 28 },
  )
  t.pass()
})
