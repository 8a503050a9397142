import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { Client } from 'pg'
import { test } from 'tap'
import { type Arena, inArena } from './arena.ts'
import { Model } from './model.ts'
import { privilegeRows } from './privilege-model.ts'
import { type Burst, bursts, oneByOne, opening, USERS } from './steps.ts'

/** Fewer runs on a slow machine; time left to make a counterexample small. */
const limits = { interruptAfterTimeLimit: 9_000 }

/** Plays bursts in the arena and in the model, and compares after each. */
async function play({ client, now, play }: Arena, story: readonly Burst[]): Promise<void> {
  const model = new Model(USERS, await now())
  for (const burst of [{ wait: 0, steps: opening }, ...story]) {
    model.now += burst.wait
    const made = await play(burst)
    burst.steps.forEach((step, i) => {
      const one = made[i] ?? assert.fail('a step without a result')
      assert.equal(one.refusal, model.take(step, one), JSON.stringify(step))
    })
    assert.deepEqual(await stateOf(client), stateOfModel(model))
  }
}

async function stateOf(client: Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ what: string; value: string }>(`
    select account as what, balance::text as value from balances where account ~ '^(user|room):' and balance <> 0
    union all select concat('bag ', user_id, ':', decoration_id), quantity::text from bag_items
    union all select concat('room ', room_id), concat(owner_id, ' ', trophy_points) from rooms
    union all select concat('streak ', sender_id, ':', room_id, ':', decoration_id), concat(times, ' ', won) from gift_streaks
    union all ${privilegeRows}`)
  return Object.fromEntries(rows.map(({ what, value }) => [what, value]))
}

function stateOfModel({ balances, bags, rooms, streaks, privilege }: Model): Record<string, string> {
  return Object.fromEntries([
    ...[...balances].filter(([, balance]) => balance !== 0n).map(([account, balance]) => [account, String(balance)]),
    ...[...bags].filter(([, items]) => items !== 0n).map(([id, items]) => [`bag ${id}`, String(items)]),
    ...[...rooms].map(([id, { owner, trophies }]) => [`room ${id}`, `${owner} ${trophies}`]),
    ...[...streaks].map(([id, { times, won }]) => [`streak ${id}`, `${times} ${won}`]),
    ...privilege.rows(),
  ])
}

test('the service does what the model says, one step at a time', async (t) => {
  await fc.assert(
    fc.asyncProperty(oneByOne, (story) => inArena((arena) => play(arena, story))),
    { ...limits, numRuns: 40 },
  )
  t.pass()
})

test('the service does what the model says, many steps at once', async (t) => {
  await fc.assert(
    fc.asyncProperty(bursts, (story) => inArena((arena) => play(arena, story))),
    { ...limits, numRuns: 40 },
  )
  t.pass()
})
