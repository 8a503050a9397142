import { type Proxy, proxy } from '../../../harness/postgres/proxy.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/** Connections that went silent are given up within this; until then whoever gets one of them waits. */
const NOTICED_MS = 15_000

export const silence: Scenario = {
  name: 'silence',
  about: 'the network to the database swallows everything, and forgets the connections that there were',
  full: { rounds: 4, seconds: 30 },
  short: { rounds: 1, seconds: 2 },
  async run(context, { rounds, seconds }) {
    let proxied: Proxy | undefined
    const environment = await sharedEnvironment(context, [{}], async (url) => {
      proxied = await proxy(context, url)
      return proxied.url
    })
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(500)
      proxied?.silence()
      await context.pause(seconds * 1000)
      proxied?.resume()
      const since = performance.now()
      for (const instance of environment.instances) await instance.ready(since, NOTICED_MS)
      await context.pause(500)
      await load.stop()
      await reconcile(context, environment)
      context.progress(`round ${round} of ${rounds}: position ${environment.books.position}`)
    }
    await runFinalChecks(context, environment)
  },
}
