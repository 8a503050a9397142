import { account, conclude } from '../account.ts'
import { Load } from '../load.ts'
import { freeze } from '../own-postgres.ts'
import type { Scenario } from '../scenario.ts'
import { sharedWorld } from '../world.ts'

const CLIENTS = 16

export const frozenPostgres: Scenario = {
  name: 'frozen-postgres',
  about: 'PostgreSQL stands still (SIGSTOP) and goes on later',
  full: { rounds: 4, seconds: 30 },
  short: { rounds: 1, seconds: 2 },
  async play(stage, { rounds, seconds }) {
    const world = await sharedWorld(stage, [{}])
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(stage, world, CLIENTS)
      await stage.pause(500)
      const goOn = freeze(stage, world.postgres.dataDir)
      await stage.pause(seconds * 1000)
      for (const instance of world.instances) {
        stage.expect(!(await instance.isReady()), 'it claimed to be ready while the database stood still')
      }
      goOn()
      const since = performance.now()
      for (const instance of world.instances) await instance.ready(since)
      await stage.pause(500)
      await load.stop()
      await account(stage, world)
      stage.say(`round ${round} of ${rounds}: position ${world.books.position}`)
    }
    await conclude(stage, world)
  },
}
