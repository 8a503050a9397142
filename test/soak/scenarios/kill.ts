import { queryOnce } from '../../harness/postgres/query-once.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import { type EmbeddedEnvironment, embeddedEnvironment } from '../environment/environment.ts'
import { killChild, killPostmaster, postmasterOf, superuserUrl } from '../environment/postgres.ts'
import { allReady, inRounds, inTurn } from '../rounds.ts'

const RESTART_TIMEOUT_MS = 60_000
/** How often the service's sessions are ended in a round. */
const SESSION_ENDS = 20

type Fault = (context: ScenarioContext, environment: EmbeddedEnvironment) => Promise<unknown>

const faults: readonly (readonly [name: string, fault: Fault])[] = [
  [
    'the service killed',
    async (_context, { instance }) => {
      await instance.kill()
      await instance.start()
    },
  ],
  [
    'the service killed, and again while it started',
    async (context, { instance }) => {
      await instance.kill()
      await instance.startAndKill(context.random.int(100, 1_500))
      await instance.start()
    },
  ],
  [
    'the service and PostgreSQL killed',
    async (_context, { dataDir, instance }) => {
      killPostmaster(dataDir)
      await instance.kill()
      await instance.start()
    },
  ],
  [
    'the postmaster killed',
    async (context, environment) => {
      const since = performance.now()
      const killed = killPostmaster(environment.dataDir)
      const isRestarted = (): boolean => ![undefined, killed].includes(postmasterOf(environment.dataDir))
      if (!(await context.waitFor(isRestarted, RESTART_TIMEOUT_MS))) throw new Error('PostgreSQL was not restarted')
      await allReady(environment, since)
    },
  ],
  [
    'a child process of PostgreSQL killed, which restarts all of them',
    async (context, environment) => {
      const since = performance.now()
      killChild(context, environment.dataDir)
      // All sessions are closed by then.
      await context.pause(100)
      await allReady(environment, since)
    },
  ],
  ["the service's sessions terminated, and their statements cancelled", endSessions],
]

async function endSessions(context: ScenarioContext, { dataDir, databaseUrl }: EmbeddedEnvironment): Promise<void> {
  for (let i = 0; i < SESSION_ENDS; i += 1) {
    await context.pause(context.random.int(5, 60))
    await queryOnce(
      superuserUrl(dataDir, databaseUrl()),
      `select ${i % 2 === 0 ? 'pg_terminate_backend' : 'pg_cancel_backend'}(pid) from pg_stat_activity
       where usename = 'economy_service' and (application_name = 'ledger writer' or random() < 0.2)`,
    )
  }
}

export const kill = inRounds({
  name: 'kill',
  about: 'kill -9 of the service, of PostgreSQL, of both and of parts of them, under load',
  full: { rounds: 180, seconds: 0 },
  short: { rounds: faults.length, seconds: 0 },
  open: embeddedEnvironment,
  async disturb({ context, environment, round }) {
    const [name, fault] = inTurn(faults, round)
    await fault(context, environment)
    // Some load on what was restarted before the books are checked.
    await context.pause(200)
    return name
  },
})
