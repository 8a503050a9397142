import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { type SharedEnvironment, sharedEnvironment } from '../../environment/environment.ts'
import { freeze } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16

/** Makes the database unavailable; answers a function that ends the outage. */
type StartOutage = (context: ScenarioContext, environment: SharedEnvironment) => Promise<() => Promise<void>>

const outage = (name: string, about: string, startOutage: StartOutage): Scenario => ({
  name,
  about,
  full: { rounds: 4, seconds: 30 },
  short: { rounds: 1, seconds: 2 },
  async run(context, { rounds, seconds }) {
    const environment = await sharedEnvironment(context, [{}])
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(500)
      const endOutage = await startOutage(context, environment)
      // Commands before these may still get their answers.
      const { started } = environment.answers
      await context.pause(seconds * 1000)
      const answered = environment.answers.finalAfter(started)
      context.expect(answered === 0, `${answered} commands were done without a database`)
      for (const instance of environment.instances) {
        context.expect(!(await instance.isReady()), 'it was ready without a database')
      }
      const since = performance.now()
      await endOutage()
      for (const instance of environment.instances) await instance.ready(since)
      await context.pause(500)
      await load.stop()
      await reconcile(context, environment)
      context.progress(`round ${round} of ${rounds}: outage of ${seconds} s; position ${environment.books.position}`)
    }
    await runFinalChecks(context, environment)
  },
})

export const postgresAway = outage(
  'postgres-away',
  'PostgreSQL is stopped under load and started again later',
  async (_context, { postgres }) => {
    await postgres.stop()
    return () => postgres.start()
  },
)

export const frozenPostgres = outage(
  'frozen-postgres',
  'PostgreSQL is suspended (SIGSTOP) and resumed later',
  async (context, { postgres }) => {
    const resume = freeze(context, postgres.dataDir)
    return async () => resume()
  },
)
