import { type Proxy, proxy } from '../../../harness/postgres/proxy.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { account, conclude } from '../../books/reconcile.ts'
import { sharedWorld } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/** Connections that went silent are given up within this; until then whoever gets one of them waits. */
const NOTICED_MS = 15_000

export const silence: Scenario = {
  name: 'silence',
  about: 'the network to the database swallows everything, and forgets the connections that there were',
  full: { rounds: 4, seconds: 30 },
  short: { rounds: 1, seconds: 2 },
  async play(stage, { rounds, seconds }) {
    let between: Proxy | undefined
    const world = await sharedWorld(stage, [{}], async (url) => {
      between = await proxy(stage, url)
      return between.url
    })
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(stage, world, CLIENTS)
      await stage.pause(500)
      between?.silence()
      await stage.pause(seconds * 1000)
      between?.resume()
      const since = performance.now()
      for (const instance of world.instances) await instance.ready(since, NOTICED_MS)
      await stage.pause(500)
      await load.stop()
      await account(stage, world)
      stage.say(`round ${round} of ${rounds}: position ${world.books.position}`)
    }
    await conclude(stage, world)
  },
}
