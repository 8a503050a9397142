import { watchSums } from '../../../harness/scenario/balance-sums.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { conclude } from '../../books/reconcile.ts'
import { embeddedWorld } from '../../environment/environment.ts'
import { killPostmaster } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 64
/** Below this memory is not warm, and nothing is said about it. */
const SECONDS_TO_JUDGE = 120

export const endurance: Scenario = {
  name: 'endurance',
  about: '64 clients for a long time: sums hold in every read, memory stays flat; then kill -9 of all',
  full: { rounds: 1, seconds: 600 },
  short: { rounds: 1, seconds: 3 },
  async play(stage, { seconds }) {
    const world = await embeddedWorld(stage)
    const sums = await watchSums(stage, world.databaseUrl())
    const load = new Load(stage, world, CLIENTS)
    for (let second = 1; second <= seconds; second += 1) {
      await stage.pause(1_000)
      if (second % 60 === 0) stage.say(`${second} of ${seconds} s: ${world.answers.final.size} commands`)
    }
    const done = world.answers.final.size
    const failed = world.answers.count(500) + world.answers.count(429) + world.answers.cuts
    stage.expect(failed === 0, `${failed} requests failed`)
    stage.tell(`${(done / seconds).toFixed(0)} commands a second over ${seconds} s`)
    await sums.tell()
    world.watch.stop()
    // However much there is by now: at work, and all at once.
    for (const instance of world.instances) {
      killPostmaster(world.dataDir)
      await instance.kill()
      await instance.start()
    }
    await load.stop()
    await conclude(stage, world, { flat: seconds >= SECONDS_TO_JUDGE })
  },
}
