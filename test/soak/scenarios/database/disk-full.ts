import { join } from 'node:path'
import { connect } from '../../../../src/db/connect.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { type EmbeddedEnvironment, embeddedEnvironment } from '../../environment/environment.ts'
import { superuserUrl } from '../../environment/own-postgres.ts'
import { type SmallDisk, smallDisk } from '../../environment/small-disk.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
const MEGABYTES = 400
/** Within this time a write must fail on the full disk. */
const FAILURE_TIMEOUT_MS = 60_000

export const diskFull: Scenario = {
  name: 'disk-full',
  about: 'the disk of the database is full for tables or for the WAL, and has space again later',
  full: { rounds: 6, seconds: 10 },
  short: { rounds: 2, seconds: 1 },
  async run(context, { rounds, seconds }) {
    const disk = smallDisk(context, MEGABYTES)
    const environment = await embeddedEnvironment(context, join(disk.path, 'data'))
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(500)
      const isWalFull = round % 2 === 0
      if (isWalFull) await fillWal(environment, disk)
      else disk.fill()
      await waitForFailure(context, environment, disk)
      await context.pause(seconds * 1000)
      disk.free()
      const since = performance.now()
      for (const instance of environment.instances) await instance.ready(since)
      await context.pause(500)
      await load.stop()
      await reconcile(context, environment)
      const effect = isWalFull ? 'PostgreSQL went down' : 'writes failed'
      context.progress(`round ${round} of ${rounds}: ${effect}; position ${environment.books.position}`)
    }
    await runFinalChecks(context, environment)
  },
}

/** Keeps the disk full until a command fails. */
async function waitForFailure(
  context: ScenarioContext,
  { answers }: EmbeddedEnvironment,
  disk: SmallDisk,
): Promise<void> {
  const before = answers.count(500)
  const deadline = performance.now() + context.limit(FAILURE_TIMEOUT_MS)
  while (answers.count(500) === before) {
    if (performance.now() > deadline) throw new Error('no command failed on the full disk')
    await context.pause(100)
    disk.fill()
  }
}

/**
 * A table that cannot grow fails a statement; a WAL that cannot grow ends PostgreSQL. So this uses up its segments until
 * there is no space for the next one.
 */
async function fillWal({ dataDir, databaseUrl }: EmbeddedEnvironment, disk: SmallDisk): Promise<void> {
  const client = await connect(superuserUrl(dataDir, databaseUrl()), 'soak wal')
  try {
    disk.fill()
    for (let segment = 0; segment < MEGABYTES / 16; segment += 1) {
      // A switch has an effect only after something was written.
      await client.query(`select pg_logical_emit_message(true, 'soak', 'full')`)
      await client.query('select pg_switch_wal()')
      disk.fill()
    }
    throw new Error('the WAL never ran out of space')
  } catch (error) {
    if (error instanceof Error && /never ran out/.test(error.message)) throw error
    // PostgreSQL has gone down.
  } finally {
    await client.end()
  }
}
