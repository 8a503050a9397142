import * as fc from 'fast-check'
import { test } from 'tap'
import { runAndVerify } from './compare.ts'
import { withModelHarness } from './harness/harness.ts'
import { bursts, singleSteps } from './steps/steps.ts'

/** Fewer runs on a slow machine; time left to make a counterexample small. */
const limits = { interruptAfterTimeLimit: 9_000 }

test('two instances keep the books, one step at a time', async (t) => {
  await fc.assert(
    fc.asyncProperty(singleSteps, (story) => withModelHarness((harness) => runAndVerify(harness, story))),
    { ...limits, numRuns: 20 },
  )
  t.pass()
})

test('two instances keep the books, many steps at once', async (t) => {
  await fc.assert(
    fc.asyncProperty(bursts, (story) => withModelHarness((harness) => runAndVerify(harness, story))),
    { ...limits, numRuns: 18 },
  )
  t.pass()
})
