import { randomInt } from 'node:crypto'
import { connect } from '../../../../src/db/connect.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { sharedEnvironment } from '../../environment/environment.ts'
import { superuserUrl } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 48
/** Rounds between two checks of the books. */
const ROUNDS_PER_CHECK = 20

const endSession = ['pg_terminate_backend', 'pg_cancel_backend'] as const

export const endedSessions: Scenario = {
  name: 'ended-sessions',
  about: "the service's sessions are terminated, or their statements cancelled",
  full: { rounds: 400, seconds: 0 },
  short: { rounds: 40, seconds: 0 },
  async run(context, { rounds }) {
    const environment = await sharedEnvironment(context, [{}, {}])
    const client = await connect(superuserUrl(environment.postgres.dataDir, environment.databaseUrl()), 'soak sessions')
    context.teardown(() => client.end())
    for (let round = 0; round < rounds; round += ROUNDS_PER_CHECK) {
      const load = new Load(context, environment, CLIENTS)
      for (let i = 0; i < ROUNDS_PER_CHECK; i += 1) {
        await context.pause(randomInt(5, 60))
        await client.query(
          `select ${endSession[i % endSession.length]}(pid) from pg_stat_activity
           where usename = 'economy_service' and (application_name = 'ledger writer' or random() < 0.2)`,
        )
      }
      await load.stop()
      await reconcile(context, environment)
      context.progress(`${round + ROUNDS_PER_CHECK} of ${rounds}: position ${environment.books.position}`)
    }
    await runFinalChecks(context, environment)
  },
}
