import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../src/db/connect.ts'
import { type ScenarioContext, ScenarioSkipped } from '../../harness/scenario/scenario.ts'
import { type EmbeddedEnvironment, embeddedEnvironment } from '../environment/environment.ts'
import { superuserUrl } from '../environment/postgres.ts'
import { allReady, inRounds } from '../rounds.ts'

const MEGABYTES = 400
/** Within this time a write must fail on the full disk. */
const FAILURE_TIMEOUT_MS = 60_000

interface DiskEnvironment extends EmbeddedEnvironment {
  readonly disk: ReturnType<typeof mountSmallDisk>
}

export const diskFull = inRounds<DiskEnvironment>({
  name: 'disk-full',
  about: 'the disk of the database is full for tables or for the WAL, and has space again later',
  full: { rounds: 6, seconds: 10 },
  short: { rounds: 2, seconds: 1 },
  async open(context) {
    const disk = mountSmallDisk(context)
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

/** Mounts a tmpfs until the end of the scenario. Skips the scenario when it cannot be mounted. */
function mountSmallDisk(context: ScenarioContext) {
  if (process.geteuid?.() !== 0) throw new ScenarioSkipped('only root can mount a small disk')
  const path = mkdtempSync(join(tmpdir(), 'economy-soak-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m,mode=711`, 'tmpfs', path], { stdio: 'pipe' })
  } catch (error) {
    rmdirSync(path)
    throw new ScenarioSkipped(`a small disk cannot be mounted: ${error instanceof Error ? error.message.trim() : ''}`)
  }
  context.teardown(async () => {
    execFileSync('umount', [path])
    rmdirSync(path)
  })
  const ballast = join(path, 'ballast')
  return {
    path,
    // It ends when there is no space left.
    fill: () => void spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k', 'oflag=append', 'conv=notrunc']),
    free: () => rmSync(ballast, { force: true }),
  }
}
