import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { embeddedEnvironment } from '../../environment/environment.ts'
import { postmasterOf } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 32
const MAX_STOP_MS = 10_000

export const sigterm: Scenario = {
  name: 'sigterm',
  about: 'SIGTERM under load: accepted commands are answered, and no process is left running',
  full: { rounds: 20, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  async run(context, { rounds }) {
    const environment = await embeddedEnvironment(context)
    let slowest = 0
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(randomInt(200, 900))
      for (const instance of environment.instances) {
        const { code, ms } = await instance.stop()
        slowest = Math.max(slowest, ms)
        context.expect(code === 0, `it exited with code ${code}`)
        context.expect(ms < context.limit(MAX_STOP_MS), `it took ${ms.toFixed(0)} ms to stop`)
        context.expect(postmasterOf(environment.dataDir) === undefined, 'PostgreSQL was left running')
      }
      // No instance is running: the last request of each client fails, and it ends.
      await load.stop()
      const unanswered = [...environment.answers.open.keys()]
      for (const instance of environment.instances) await instance.start()
      await environment.books.read(environment.databaseUrl())
      for (const key of unanswered) {
        context.expect(!environment.books.has(key), `${key} was done but never answered`)
      }
      await reconcile(context, environment)
      context.progress(`round ${round} of ${rounds}: stopped, position ${environment.books.position}`)
    }
    await runFinalChecks(context, environment)
    context.report(`stopped in at most ${(slowest / 1000).toFixed(1)} s`)
  },
}
