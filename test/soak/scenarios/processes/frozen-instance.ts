import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { account, conclude } from '../../books/reconcile.ts'
import { sharedWorld } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/** Within this the database takes the head of the ledger from an instance that holds it and does nothing. */
const FREED_MS = 6_500

export const frozenInstance: Scenario = {
  name: 'frozen-instance',
  about: 'one of two instances stands still (SIGSTOP) in the middle of its work, and goes on later',
  full: { rounds: 10, seconds: 12 },
  short: { rounds: 1, seconds: 8 },
  async play(stage, { rounds, seconds }) {
    // Clients that get no answer ask another instance, while the first one may still be at it.
    const world = { ...(await sharedWorld(stage, [{}, {}])), patienceMs: 2_000 }
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(stage, world, CLIENTS)
      await stage.pause(randomInt(300, 900))
      const instance = world.instances[round % world.instances.length]
      const goOn = instance?.freeze()
      const since = performance.now()
      await stage.pause(FREED_MS)
      const before = world.answers.final.size
      await stage.pause(Math.max(500, seconds * 1000 - FREED_MS))
      const during = world.answers.final.size - before
      stage.expect(during > 0, 'the other instance stood still too')
      goOn?.()
      const stood = (performance.now() - since) / 1000
      await instance?.ready(performance.now())
      await stage.pause(500)
      await load.stop()
      await account(stage, world)
      const what = `stood still for ${stood.toFixed(1)} s, ${during} commands done by the other`
      stage.say(`round ${round} of ${rounds}: ${what}; position ${world.books.position}`)
    }
    await conclude(stage, world)
  },
}
