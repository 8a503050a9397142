import { randomInt } from 'node:crypto'
import { connect } from '../../../../src/db/connect.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import { account, conclude } from '../../books/reconcile.ts'
import { sharedWorld } from '../../environment/environment.ts'
import { superuserUrl } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 48
/** Blows between two looks at the books. */
const BETWEEN = 20

const blows = ['pg_terminate_backend', 'pg_cancel_backend'] as const

export const endedSessions: Scenario = {
  name: 'ended-sessions',
  about: "somebody ends the service's sessions, or cancels what they do",
  full: { rounds: 400, seconds: 0 },
  short: { rounds: 40, seconds: 0 },
  async play(stage, { rounds }) {
    const world = await sharedWorld(stage, [{}, {}])
    const client = await connect(superuserUrl(world.postgres.dataDir, world.databaseUrl()), 'soak blows')
    stage.teardown(() => client.end())
    for (let round = 0; round < rounds; round += BETWEEN) {
      const load = new Load(stage, world, CLIENTS)
      for (let i = 0; i < BETWEEN; i += 1) {
        await stage.pause(randomInt(5, 60))
        await client.query(
          `select ${blows[i % blows.length]}(pid) from pg_stat_activity
           where usename = 'economy_service' and (application_name = 'ledger writer' or random() < 0.2)`,
        )
      }
      await load.stop()
      await account(stage, world)
      stage.say(`${round + BETWEEN} of ${rounds}: position ${world.books.position}`)
    }
    await conclude(stage, world)
  },
}
