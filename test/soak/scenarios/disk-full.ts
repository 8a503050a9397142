import { join } from 'node:path'
import { connect } from '../../../src/db/connect.ts'
import { type EmbeddedEnvironment, embeddedEnvironment } from '../environment/environment.ts'
import { superuserUrl } from '../environment/postgres.ts'
import { type SmallDisk, smallDisk } from '../environment/small-disk.ts'
import { allReady, inRounds } from '../rounds.ts'

const MEGABYTES = 400
/** Within this time a write must fail on the full disk. */
const FAILURE_TIMEOUT_MS = 60_000

interface DiskEnvironment extends EmbeddedEnvironment {
  readonly disk: SmallDisk
}

export const diskFull = inRounds<DiskEnvironment>({
  name: 'disk-full',
  about: 'the disk of the database is full for tables or for the WAL, and has space again later',
  full: { rounds: 6, seconds: 10 },
  short: { rounds: 2, seconds: 1 },
  async open(context) {
    const disk = smallDisk(context, MEGABYTES)
    return { ...(await embeddedEnvironment(context, join(disk.path, 'data'))), disk }
  },
  async disturb({ context, environment, round, seconds }) {
    const { answers, disk } = environment
    const isWalFull = round % 2 === 1
    const before = answers.count(500)
    if (isWalFull) await fillWal(environment)
    const failed = await context.waitFor(() => {
      disk.fill()
      return answers.count(500) > before
    }, FAILURE_TIMEOUT_MS)
    if (!failed) throw new Error('no command failed on the full disk')
    await context.pause(seconds * 1000)
    disk.free()
    await allReady(environment, performance.now())
    await context.pause(500)
    return isWalFull ? 'PostgreSQL went down' : 'writes failed'
  },
})

/**
 * A table that cannot grow fails a statement; a WAL that cannot grow ends PostgreSQL. So this uses up its segments until
 * there is no space for the next one.
 */
async function fillWal({ dataDir, databaseUrl, disk }: DiskEnvironment): Promise<void> {
  const client = await connect(superuserUrl(dataDir, databaseUrl()), 'soak wal')
  try {
    disk.fill()
    for (let segment = 0; segment < MEGABYTES / 16; segment += 1) {
      // A switch has an effect only after something was written.
      await client.query(`select pg_logical_emit_message(true, 'soak', 'full')`)
      await client.query('select pg_switch_wal()')
      disk.fill()
    }
  } catch {
    // PostgreSQL has gone down.
    return
  } finally {
    await client.end()
  }
  throw new Error('the WAL never ran out of space')
}
