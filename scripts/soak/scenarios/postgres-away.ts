import { account, conclude } from '../account.ts'
import { Load } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import { sharedWorld } from '../world.ts'

const CLIENTS = 16

export const postgresAway: Scenario = {
  name: 'postgres-away',
  about: 'PostgreSQL is shut down under load and started again later',
  full: { rounds: 4, seconds: 30 },
  short: { rounds: 1, seconds: 2 },
  async play(stage, { rounds, seconds }) {
    const world = await sharedWorld(stage, [{}])
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(stage, world, CLIENTS)
      await stage.pause(500)
      await world.postgres.stop()
      const before = world.answers.final.size
      await stage.pause(seconds * 1000)
      stage.expect(world.answers.final.size === before, 'commands were answered while there was no database')
      for (const instance of world.instances) {
        stage.expect(!(await instance.isReady()), 'it claimed to be ready while there was no database')
      }
      const since = performance.now()
      await world.postgres.start()
      for (const instance of world.instances) await instance.ready(since)
      await stage.pause(500)
      await load.stop()
      await account(stage, world)
      stage.say(`round ${round} of ${rounds}: away for ${seconds} s; position ${world.books.position}`)
    }
    await conclude(stage, world)
  },
}
