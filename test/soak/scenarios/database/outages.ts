import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { type SharedEnvironment, sharedEnvironment } from '../../environment/environment.ts'
import { freeze } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16

/** Takes the database away; answers how it comes back. */
type Strike = (context: ScenarioContext, environment: SharedEnvironment) => Promise<() => Promise<void>>

const outage = (name: string, about: string, strike: Strike): Scenario => ({
  name,
  about,
  full: { rounds: 4, seconds: 30 },
  short: { rounds: 1, seconds: 2 },
  async run(context, { rounds, seconds }) {
    const environment = await sharedEnvironment(context, [{}])
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(500)
      const comeBack = await strike(context, environment)
      // Answers to earlier ones may still be on their way.
      const { started } = environment.answers
      await context.pause(seconds * 1000)
      const answered = environment.answers.finalAfter(started)
      context.expect(answered === 0, `${answered} commands were answered while there was no database`)
      for (const instance of environment.instances) {
        context.expect(!(await instance.isReady()), 'it claimed to be ready while there was no database')
      }
      const since = performance.now()
      await comeBack()
      for (const instance of environment.instances) await instance.ready(since)
      await context.pause(500)
      await load.stop()
      await reconcile(context, environment)
      context.progress(`round ${round} of ${rounds}: away for ${seconds} s; position ${environment.books.position}`)
    }
    await runFinalChecks(context, environment)
  },
})

export const postgresAway = outage(
  'postgres-away',
  'PostgreSQL is shut down under load and started again later',
  async (_stage, { postgres }) => {
    await postgres.stop()
    return () => postgres.start()
  },
)

export const frozenPostgres = outage(
  'frozen-postgres',
  'PostgreSQL stands still (SIGSTOP) and goes on later',
  async (context, { postgres }) => {
    const resume = freeze(context, postgres.dataDir)
    return async () => resume()
  },
)
