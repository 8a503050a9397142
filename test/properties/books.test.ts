import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'tap'
import { verified } from '../audit/verified.ts'
import { type Arena, inArena } from './arena.ts'
import { type Burst, bursts, oneByOne, opening } from './steps.ts'

/** Fewer runs on a slow machine; time left to make a counterexample small. */
const limits = { interruptAfterTimeLimit: 9_000 }

/** Plays bursts and sees after each that nothing came from nowhere, and at the end that the books are in order. */
async function play({ client, database, scatter }: Arena, story: readonly Burst[]): Promise<void> {
  for (const burst of [{ wait: 0, steps: opening }, ...story]) {
    await scatter(burst)
    const { rows } = await client.query<{ fault: string }>(`
      select concat(split_part(account, ':', 3), ' sums to ', sum(balance)) as fault
      from balances group by split_part(account, ':', 3) having sum(balance) <> 0
      union all
      select concat(account, ' is ', balance) from balances
      where account !~ '^(house|issuance):' and (balance < 0 or balance > 9007199254740991)`)
    assert.deepEqual(rows, [])
  }
  assert.deepEqual((await verified(database)).findings, [])
}

test('two instances keep the books, one step at a time', async (t) => {
  await fc.assert(
    fc.asyncProperty(oneByOne, (story) => inArena((arena) => play(arena, story))),
    { ...limits, numRuns: 25 },
  )
  t.pass()
})

test('two instances keep the books, many steps at once', async (t) => {
  await fc.assert(
    fc.asyncProperty(bursts, (story) => inArena((arena) => play(arena, story))),
    { ...limits, numRuns: 30 },
  )
  t.pass()
})
