import { findBinaries } from '../../../src/db/cluster/cluster.ts'
import { proxy } from '../../harness/postgres/proxy.ts'
import { makeSynchronous, type Server, STANDBY_NAME, startReplicated } from '../../harness/postgres/replicated.ts'
import { debianBinaries } from '../../harness/postgres/test-binaries.ts'
import type { Scenario, ScenarioContext } from '../../harness/scenario/scenario.ts'
import { Instance } from '../../harness/scenario/service-instance.ts'
import { reconcile, runFinalChecks } from '../books/reconcile.ts'
import { type Environment, makeFolder, populate } from '../environment/environment.ts'
import { killPostmaster } from '../environment/postgres.ts'
import { startClients } from '../load/clients.ts'
import { allReady } from '../rounds.ts'

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
      const { primary, standby } = postgres
      const inSync = `select from pg_stat_replication where application_name = '${STANDBY_NAME}' and sync_state = 'sync'`
      while ((await primary.admin(inSync)).length === 0) await context.pause(20)
      const route = await proxy(context, primary.serviceUrl)
      const env = { DATABASE_URL: route.url, DATA_DIR: makeFolder(context), DATABASE_SYNCHRONOUS: 'on' }
      let databaseUrl = primary.serviceUrl
      const instances = [await Instance.start(context, env), await Instance.start(context, env)]
      const environment = await populate(context, instances, () => databaseUrl)
      const clients = startClients(context, environment, CLIENTS)
      const runForAWhile = (): Promise<void> => context.pause(500 + seconds * 1_000)
      await runForAWhile()
      await loseStandby(context, environment, standby)
      await runForAWhile()

      const { final } = environment.answers
      const acknowledged = final.size
      const since = performance.now()
      killPostmaster(primary.dataDir)
      await route.down()
      await standby.admin('select pg_promote()')
      route.retarget(standby.serviceUrl)
      await route.up()
      databaseUrl = standby.serviceUrl
      const ms = await allReady(environment, since)
      await runForAWhile()
      await clients.stop()
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
async function loseStandby(context: ScenarioContext, environment: Environment, standby: Server): Promise<void> {
  await standby.stop()
  for (const instance of environment.instances) {
    const isUnready = await context.waitFor(async () => !(await instance.isReady()), UNREADY_TIMEOUT_MS)
    context.expect(isUnready, `${instance.origin} was ready although nothing could be committed`)
  }
  const since = performance.now()
  await standby.start()
  // A batch that met its deadline is only now found out to be committed.
  await allReady(environment, since, 20_000)
}
