import * as fc from 'fast-check'
import { isFullRun } from './long-tests.ts'

// `npm test` generates the same values each time. `npm run test:full` chooses a seed for all of the run and prints it.
const { SEED, RUN_SEED, RUNS } = process.env

/** As many cases in `npm test`; others, and four times as many, in `npm run test:full`; RUNS is another number of them. */
export const runs = (count: number) => ({
  numRuns: Number(RUNS ?? (isFullRun ? 4 * count : count)),
  seed: Number(SEED ?? RUN_SEED ?? 1),
  // A failure is reported at once. When SEED repeats it, fast-check also looks for a smaller case that fails.
  endOnFailure: SEED === undefined,
})

/** Any character, for texts: fast-check's unit `binary` makes a table of all of them, which takes seconds. */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7_ff }), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
  .map((codePoint) => String.fromCodePoint(codePoint))
