import { execFileSync } from 'node:child_process'
import { appendFileSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Binaries, prepareCluster } from '../../../src/db/cluster/cluster.ts'
import { startAndConnect } from '../../../src/db/cluster/cluster-session.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { grantService } from '../../../src/db/roles.ts'
import { reservePort } from '../process/reserve-port.ts'
import type { Scope } from '../scope.ts'
import { until } from '../until.ts'
import { type Server, serverOf } from './replicated.ts'

/**
 * A migrated PostgreSQL that archives its WAL, with a backup from which it can be restored to a later moment, in an empty
 * folder; the binaries are those of an installation that has pg_basebackup.
 */
export async function startArchived(t: Scope, folder: string, binaries: Binaries) {
  const [dir, restoredDir, archive] = ['archived', 'restored', 'archive'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const cluster = await prepareCluster(dir, binaries)
  const { uid, gid } = statSync(join(dir, 'postgres'))
  const configure = (of: string, settings: string): void =>
    appendFileSync(join(of, 'postgres', 'postgresql.auto.conf'), settings)
  mkdirSync(archive)
  // As root, PostgreSQL runs as another user.
  chownSync(archive, uid, gid)
  configure(dir, `archive_mode = on\narchive_command = 'cp %p ${archive}/%f'\n`)
  const { port, client } = await startAndConnect(cluster)
  await client.end()
  const server = serverOf(cluster, port)
  t.teardown(() => server.stop())
  await migrate(server.ownerUrl)
  await grantService(server.ownerUrl, 'economy_service')
  return {
    server,
    /** Takes the backup. */
    backUp() {
      mkdirSync(restoredDir, { mode: 0o711 })
      for (const name of readdirSync(dir)) {
        if (name.endsWith('-password')) cpSync(join(dir, name), join(restoredDir, name))
      }
      const target = join(restoredDir, 'postgres')
      const options = `-h 127.0.0.1 -p ${port} -U postgres -X fetch -c fast -D ${target}`.split(' ')
      const env = { ...process.env, PGPASSWORD: cluster.password('postgres') }
      execFileSync(join(dirname(binaries.pg_ctl), 'pg_basebackup'), options, { env })
      execFileSync('chown', ['-R', `${uid}:${gid}`, target])
    },
    /** Starts a copy as of the server's time `moment`, once; the server keeps running. */
    async restoreTo(moment: string): Promise<Server> {
      const [switched] = await server.admin('select pg_walfile_name(pg_switch_wal()) as file')
      await until(() => existsSync(join(archive, String(switched?.['file']))))
      const target = `recovery_target_time = '${moment}'\nrecovery_target_action = 'promote'\n`
      configure(restoredDir, `archive_mode = off\nrestore_command = 'cp ${archive}/%f %p'\n${target}`)
      const signalFile = join(restoredDir, 'postgres', 'recovery.signal')
      writeFileSync(signalFile, '')
      chownSync(signalFile, uid, gid)
      const restored = serverOf(await prepareCluster(restoredDir, binaries), await reservePort())
      t.teardown(() => restored.stop())
      await restored.start()
      // While it replays, it may take no connections.
      const states = () => restored.admin('select pg_is_in_recovery() as replays').catch(() => [])
      await until(async () => (await states())[0]?.['replays'] === false)
      return restored
    },
  }
}
