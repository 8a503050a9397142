import { findBinaries } from '../../../../src/db/cluster/binaries.ts'
import { proxy } from '../../../harness/postgres/proxy.ts'
import {
  makeSynchronous,
  type ReplicatedPostgres,
  STANDBY_NAME,
  startReplicated,
} from '../../../harness/postgres/replicated.ts'
import { debianBinaries } from '../../../harness/postgres/test-binaries.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { type Environment, environmentOn, makeFolder } from '../../environment/environment.ts'
import { killPostmaster } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/** Commits that wait for a standby make an instance unready after 3 s. */
const UNREADY_TIMEOUT_MS = 10_000

/** Instances that reach the database at an address which moves with the failover, as a proxy or a name does. */
export const failover: Scenario = {
  name: 'failover',
  about: 'a synchronous standby goes and comes back, then the primary dies and the standby is promoted, all under load',
  full: { rounds: 3, seconds: 10 },
  short: { rounds: 1, seconds: 0 },
  async run(context, { rounds, seconds }) {
    for (let round = 1; round <= rounds; round += 1) {
      const postgres = await startReplicated(context, makeFolder(context), debianBinaries() ?? (await findBinaries()))
      await makeSynchronous(postgres)
      await waitForStandby(context, postgres)
      const { primary, standby } = postgres
      const route = await proxy(context, primary.serviceUrl)
      const env = { DATABASE_URL: route.url }
      let databaseUrl = primary.serviceUrl
      const environment = await environmentOn(context, [env, env], () => databaseUrl)
      const load = new Load(context, environment, CLIENTS)
      await context.pause(500 + seconds * 1_000)
      await loseStandby(context, environment, postgres)
      await context.pause(500 + seconds * 1_000)

      const { final } = environment.answers
      const acknowledged = final.size
      const since = performance.now()
      killPostmaster(primary.dataDir)
      await route.down()
      await standby.admin('select pg_promote()')
      route.retarget(standby.serviceUrl)
      await route.up()
      databaseUrl = standby.serviceUrl
      let ms = 0
      for (const instance of environment.instances) ms = Math.max(ms, await instance.ready(since))
      await context.pause(500 + seconds * 1_000)
      await load.stop()
      await reconcile(context, environment)
      context.expect(final.size > acknowledged, 'nothing was done after the promotion')
      const [version] = await standby.admin('show server_version')
      context.report(
        `PostgreSQL ${String(version?.['server_version'])}: ${acknowledged} commands acknowledged before the primary ` +
          `died; ready on the promoted standby after ${(ms / 1_000).toFixed(1)} s`,
      )
      context.progress(`round ${round} of ${rounds}: ready after ${ms.toFixed(0)} ms`)
      await runFinalChecks(context, environment)
      for (const instance of environment.instances) await instance.stop()
      await standby.stop()
    }
  },
}

/** Without its synchronous standby, the primary commits nothing: the instances are unready until it is back. */
async function loseStandby(
  context: ScenarioContext,
  { instances }: Environment,
  { standby }: ReplicatedPostgres,
): Promise<void> {
  await standby.stop()
  const stopped = performance.now()
  for (const instance of instances) {
    while (await instance.isReady()) {
      if (performance.now() - stopped > context.limit(UNREADY_TIMEOUT_MS)) {
        context.expect(false, `${instance.origin} was ready although nothing could be committed`)
        break
      }
      await context.pause(50)
    }
  }
  const since = performance.now()
  await standby.start()
  // A batch that met its deadline is only now found out to be committed.
  for (const instance of instances) await instance.ready(since, 20_000)
}

async function waitForStandby(context: ScenarioContext, { primary }: ReplicatedPostgres): Promise<void> {
  const query = `select from pg_stat_replication where application_name = '${STANDBY_NAME}' and sync_state = 'sync'`
  while ((await primary.admin(query)).length === 0) await context.pause(20)
}
