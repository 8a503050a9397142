import { connect } from '../../../src/db/connect.ts'
import { account, conclude } from '../account.ts'
import { Load } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import type { Stage } from '../stage.ts'
import { type SharedWorld, sharedWorld } from '../world.ts'

const CLIENTS = 16

/** What somebody with psql may hold on to. */
const holds = [
  'select from ledger_head for update',
  'lock table balances in access exclusive mode',
  'lock table ledger_events in access exclusive mode',
] as const

export const locks: Scenario = {
  name: 'locks',
  about: 'another session holds what every command needs',
  full: { rounds: 6, seconds: 20 },
  short: { rounds: 1, seconds: 6 },
  async play(stage, { rounds, seconds }) {
    const world = await sharedWorld(stage, [{}])
    for (let round = 0; round < rounds; round += 1) {
      const statement = holds[round % holds.length] ?? ''
      await held(stage, world, statement, seconds)
      stage.say(`round ${round + 1} of ${rounds}: ${statement}; position ${world.books.position}`)
    }
    await conclude(stage, world, CLIENTS)
  },
}

async function held(stage: Stage, world: SharedWorld, statement: string, seconds: number): Promise<void> {
  const load = new Load(stage, world, CLIENTS)
  await stage.pause(500)
  const session = await connect(world.postgres.ownerUrl, 'soak lock')
  let since: number
  try {
    await session.query(`begin; ${statement}`)
    await stage.pause(seconds * 1000)
    since = performance.now()
  } finally {
    await session.end()
  }
  for (const instance of world.instances) await instance.ready(since)
  await stage.pause(500)
  const before = world.answers.final.size
  await stage.pause(1_500)
  stage.expect(world.answers.final.size > before, `nothing was done in the 2 s after: ${statement}`)
  await load.stop()
  await account(stage, world)
}
