import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { Stage } from '../../../harness/scenario/scenario-context.ts'
import { account, conclude } from '../../books/reconcile.ts'
import { type SharedWorld, sharedWorld } from '../../environment/environment.ts'
import { freeze } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16

/** Takes the database away; answers how it comes back. */
type Strike = (stage: Stage, world: SharedWorld) => Promise<() => Promise<void>>

const outage = (name: string, about: string, strike: Strike): Scenario => ({
  name,
  about,
  full: { rounds: 4, seconds: 30 },
  short: { rounds: 1, seconds: 2 },
  async play(stage, { rounds, seconds }) {
    const world = await sharedWorld(stage, [{}])
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(stage, world, CLIENTS)
      await stage.pause(500)
      const comeBack = await strike(stage, world)
      // Answers to earlier ones may still be on their way.
      const { begun } = world.answers
      await stage.pause(seconds * 1000)
      const answered = world.answers.finalAfter(begun)
      stage.expect(answered === 0, `${answered} commands were answered while there was no database`)
      for (const instance of world.instances) {
        stage.expect(!(await instance.isReady()), 'it claimed to be ready while there was no database')
      }
      const since = performance.now()
      await comeBack()
      for (const instance of world.instances) await instance.ready(since)
      await stage.pause(500)
      await load.stop()
      await account(stage, world)
      stage.say(`round ${round} of ${rounds}: away for ${seconds} s; position ${world.books.position}`)
    }
    await conclude(stage, world)
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
  async (stage, { postgres }) => {
    const goOn = freeze(stage, postgres.dataDir)
    return async () => goOn()
  },
)
