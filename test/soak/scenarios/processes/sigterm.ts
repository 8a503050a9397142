import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { account, conclude } from '../../books/reconcile.ts'
import { embeddedWorld } from '../../environment/environment.ts'
import { postmasterOf } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 32
const IN_TIME_MS = 10_000

export const sigterm: Scenario = {
  name: 'sigterm',
  about: 'SIGTERM under load: what was accepted is answered, and nothing is left running',
  full: { rounds: 20, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  async play(stage, { rounds }) {
    const world = await embeddedWorld(stage)
    let slowest = 0
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(stage, world, CLIENTS)
      await stage.pause(randomInt(200, 900))
      for (const instance of world.instances) {
        const { code, ms } = await instance.stop()
        slowest = Math.max(slowest, ms)
        stage.expect(code === 0, `it ended with exit code ${code}`)
        stage.expect(ms < stage.limit(IN_TIME_MS), `it took ${ms.toFixed(0)} ms to end`)
        stage.expect(postmasterOf(world.dataDir) === undefined, 'PostgreSQL was left running')
      }
      // Nobody is there any more: each client hears that once more, and ends.
      await load.stop()
      const unanswered = [...world.answers.open.keys()]
      for (const instance of world.instances) await instance.start()
      await world.books.read(world.databaseUrl())
      for (const key of unanswered) {
        stage.expect(!world.books.has(key), `${key} was accepted and done, and never answered`)
      }
      await account(stage, world)
      stage.say(`round ${round} of ${rounds}: stopped, position ${world.books.position}`)
    }
    await conclude(stage, world)
    stage.tell(`ended in at most ${(slowest / 1000).toFixed(1)} s`)
  },
}
