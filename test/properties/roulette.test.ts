import * as fc from 'fast-check'
import { test } from 'tap'
import { playAndVerify, playBoth } from './compare.ts'
import { inArena } from './harness/harness.ts'
import { crowdedRoulettes, roulettes } from './steps/steps.ts'

/** Fewer runs on a slow machine; time left to make a counterexample small. */
const limits = { interruptAfterTimeLimit: 8_000 }

test('roulettes go as the model says, one step at a time', async (t) => {
  await fc.assert(
    fc.asyncProperty(roulettes, (story) => inArena((arena) => playBoth(arena, story))),
    { ...limits, numRuns: 25 },
  )
  t.pass()
})

test('roulettes go as the model says, many steps at once', async (t) => {
  await fc.assert(
    fc.asyncProperty(crowdedRoulettes, (story) => inArena((arena) => playBoth(arena, story))),
    { ...limits, numRuns: 25 },
  )
  t.pass()
})

test('two instances keep the books of roulettes, many steps at once', async (t) => {
  await fc.assert(
    fc.asyncProperty(crowdedRoulettes, (story) => inArena((arena) => playAndVerify(arena, story))),
    { ...limits, numRuns: 20 },
  )
  t.pass()
})
