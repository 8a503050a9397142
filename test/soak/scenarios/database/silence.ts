import { type Proxy, proxy } from '../../../harness/postgres/proxy.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/** Silent connections are given up within this time; until then their users wait. */
const GIVE_UP_MS = 15_000

export const silence: Scenario = {
  name: 'silence',
  about: 'the network to the database loses all packets, and existing connections stay dead',
  full: { rounds: 4, seconds: 30 },
  short: { rounds: 1, seconds: 2 },
  async run(context, { rounds, seconds }) {
    let pgProxy: Proxy | undefined
    const environment = await sharedEnvironment(context, [{}], async (url) => {
      pgProxy = await proxy(context, url)
      return pgProxy.url
    })
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(500)
      pgProxy?.silence()
      await context.pause(seconds * 1000)
      pgProxy?.resume()
      const since = performance.now()
      for (const instance of environment.instances) await instance.ready(since, GIVE_UP_MS)
      await context.pause(500)
      await load.stop()
      await reconcile(context, environment)
      context.progress(`round ${round} of ${rounds}: position ${environment.books.position}`)
    }
    await runFinalChecks(context, environment)
  },
}
