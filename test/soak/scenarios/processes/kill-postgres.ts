import { randomInt } from 'node:crypto'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { embeddedEnvironment } from '../../environment/environment.ts'
import { killChild, killPostmaster, postmasterOf } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
const RESTART_TIMEOUT_MS = 60_000

export const killPostgres = killScenario({
  name: 'kill-postgres',
  about: 'kill -9 of the postmaster under load, again and again',
  full: 50,
  short: 2,
  async kill(context, dataDir) {
    const killed = killPostmaster(dataDir)
    await waitForNewPostmaster(context, dataDir, killed)
  },
})

export const killBackends = killScenario({
  name: 'kill-backends',
  about: 'kill -9 of a child process of PostgreSQL, which then restarts all of them',
  full: 30,
  short: 1,
  async kill(context, dataDir) {
    killChild(dataDir)
    // All sessions are closed by then.
    await context.pause(100)
  },
})

function killScenario({
  name,
  about,
  full,
  short,
  kill,
}: {
  readonly name: string
  readonly about: string
  readonly full: number
  readonly short: number
  readonly kill: (context: ScenarioContext, dataDir: string) => Promise<void>
}): Scenario {
  return {
    name,
    about,
    full: { rounds: full, seconds: 0 },
    short: { rounds: short, seconds: 0 },
    async run(context, { rounds }) {
      const environment = await embeddedEnvironment(context)
      for (let round = 1; round <= rounds; round += 1) {
        const load = new Load(context, environment, CLIENTS)
        await context.pause(randomInt(200, 900))
        const since = performance.now()
        await kill(context, environment.dataDir)
        let ms = 0
        for (const instance of environment.instances) ms = await instance.ready(since)
        // Some load on the restarted PostgreSQL before the books are checked.
        await context.pause(200)
        await load.stop()
        await reconcile(context, environment)
        context.progress(
          `round ${round} of ${rounds}: ready after ${ms.toFixed(0)} ms, position ${environment.books.position}`,
        )
      }
      await runFinalChecks(context, environment)
    },
  }
}

async function waitForNewPostmaster(context: ScenarioContext, dataDir: string, killed: number): Promise<void> {
  const deadline = performance.now() + context.limit(RESTART_TIMEOUT_MS)
  for (let pid = postmasterOf(dataDir); pid === undefined || pid === killed; pid = postmasterOf(dataDir)) {
    if (performance.now() > deadline) throw new Error('PostgreSQL was not restarted')
    await context.pause(20)
  }
}
