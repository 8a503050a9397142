import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { Instance } from '../../../harness/scenario/service-instance.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { embeddedEnvironment } from '../../environment/environment.ts'
import { killPostmaster } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16

export const killService: Scenario = {
  name: 'kill-service',
  about: 'kill -9 of the service: under load, while it starts, and together with PostgreSQL',
  full: { rounds: 100, seconds: 0 },
  short: { rounds: 3, seconds: 0 },
  async run(context, { rounds }) {
    const environment = await embeddedEnvironment(context)
    const faults: readonly ((instance: Instance) => Promise<void>)[] = [
      (instance) => instance.kill(),
      async (instance) => {
        await instance.kill()
        await instance.startAndKill(randomInt(100, 1_500))
      },
      async (instance) => {
        killPostmaster(environment.dataDir)
        await instance.kill()
      },
    ]
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(randomInt(200, 900))
      let ms = 0
      for (const instance of environment.instances) {
        await faults[round % faults.length]?.(instance)
        ms = await instance.start()
      }
      await load.stop()
      await reconcile(context, environment)
      context.progress(
        `round ${round} of ${rounds}: ready after ${ms.toFixed(0)} ms, position ${environment.books.position}`,
      )
    }
    await runFinalChecks(context, environment)
  },
}
