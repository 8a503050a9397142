import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { findBinaries, prepareCluster } from '../../src/db/cluster/cluster.ts'
import { startAndConnect } from '../../src/db/cluster/cluster-session.ts'
import { DataDirInUse, leaseEmbedded, openEmbedded } from '../../src/db/cluster/embedded.ts'
import { childrenOf, findPostmaster } from '../../src/db/cluster/postmaster.ts'
import { chooseRunner } from '../../src/db/cluster/run-as.ts'
import { connect } from '../../src/db/connect.ts'
import { onlyInFullRun } from '../harness/long-tests.ts'
import {
  canRunClusterOwner,
  capabilities,
  kill,
  newDataDir,
  openEmbeddedCluster,
  ownerOfProcess,
  pidOf,
  retryUntilSuccess,
  spawnClusterOwner,
  startClusterOwner,
} from '../harness/postgres/embedded.ts'
import { queryOnce } from '../harness/postgres/query-once.ts'
import { startService } from '../harness/process/service.ts'
import { until } from '../harness/until.ts'

const root = process.geteuid?.() === 0
/** A normal user: `nobody`, or the current one. */
const user = root ? { uid: 65_534, gid: 65_534 } : {}
/** A minute of silence, and the attempts before it and after. */
const HANG_DEADLINE_MS = 180_000

test('an embedded database', { skip: onlyInFullRun }, async (t) => {
  const dataDir = newDataDir(t)

  await t.test('a data directory is initialised, owned by one process, stopped and started again', async (t) => {
    mkdirSync(join(dataDir, 'postgres-init-999999999-left'), { recursive: true, mode: 0o711 })

    const starts = await Promise.allSettled([openEmbeddedCluster(t, dataDir), openEmbeddedCluster(t, dataDir)])
    const embedded = starts
      .map((start) => (start.status === 'fulfilled' ? start.value : null))
      .find((one) => one !== null)
    const refusal: unknown = starts.map((start) => (start.status === 'rejected' ? start.reason : null)).find(Boolean)
    if (!embedded) throw new Error('both starts failed', { cause: refusal })
    t.ok(refusal instanceof DataDirInUse, 'of two first starts at once one owns the directory')
    t.match(String(refusal), `DATABASE_URL=$(cat "${dataDir}/database-url") PORT=3001 npm start`)

    t.same(
      readdirSync(dataDir).filter((name) => name.startsWith('postgres-init')),
      [],
      'no half-made cluster is left',
    )
    for (const name of readdirSync(dataDir)) {
      t.equal(statSync(join(dataDir, name)).mode & 0o077, 0, `${name} is for its owner alone`)
    }
    t.equal(readFileSync(join(dataDir, 'database-url'), 'utf8'), `${embedded.serviceUrl}\n`)
    t.equal(readFileSync(join(dataDir, 'database-owner-url'), 'utf8'), `${embedded.ownerUrl}\n`)
    const { port, password } = new URL(embedded.serviceUrl)
    t.equal(
      readFileSync(join(dataDir, 'pg_service.conf'), 'utf8'),
      `[economy]\nhost=127.0.0.1\nport=${port}\ndbname=economy\nuser=economy_service\npassword=${password}\n`,
    )

    t.same(
      await queryOnce(
        embedded.serviceUrl,
        `select current_setting('listen_addresses') as listens,
                current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
                current_setting('full_page_writes') as pages, current_setting('server_encoding') as encoding,
                (select datlocprovider::text || ' ' || datlocale from pg_database where datname = current_database()) as locale,
                (select array_agg(rolname::text order by rolname) from pg_roles where rolcanlogin and rolsuper) as superusers,
                (select array_agg(rolname::text) from pg_roles where rolcreatedb and not rolsuper) as creators,
                (select pg_get_userbyid(datdba) from pg_database where datname = current_database()) as owner,
                current_user as service`,
      ),
      [
        {
          listens: '127.0.0.1',
          fsync: 'on',
          commit: 'on',
          pages: 'on',
          encoding: 'UTF8',
          locale: 'b C.UTF-8',
          superusers: ['postgres'],
          creators: null,
          owner: 'economy_owner',
          service: 'economy_service',
        },
      ],
    )
    const pidFile = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
    t.equal(pidFile[4], '', 'there is no unix socket')
    await t.rejects(queryOnce(embedded.serviceUrl.replace(/:[0-9a-f]{64}@/, ':guess@'), 'select 1'), { code: '28P01' })
    await queryOnce(embedded.ownerUrl, 'create table kept as select 7 as number')

    await t.rejects(openEmbeddedCluster(t, dataDir), DataDirInUse)
    t.same(
      await queryOnce(embedded.ownerUrl, 'select number from kept'),
      [{ number: 7 }],
      'the refused start stopped nothing',
    )

    await Promise.all([embedded.stop(), embedded.stop()])
    t.equal(findPostmaster(join(dataDir, 'postgres')), null, 'stop waits until it is down')
    await t.rejects(connect(embedded.ownerUrl, 'test'), { code: 'ECONNREFUSED' })
    await sleep(300)
    t.equal(findPostmaster(join(dataDir, 'postgres')), null, 'and it is not restarted')

    const again = await openEmbeddedCluster(t, dataDir)
    t.equal(again.ownerUrl, embedded.ownerUrl, 'the second start has the port and passwords of the first')
    t.same(await queryOnce(again.ownerUrl, 'select number from kept'), [{ number: 7 }])
    await again.stop()
  })

  await t.test('a PostgreSQL that was killed while it wrote its process id is started again', async (t) => {
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
    writeFileSync(pidFile, '')
    const again = await openEmbeddedCluster(t, dataDir)
    t.same(await queryOnce(again.ownerUrl, 'select 1 as one'), [{ one: 1 }])
    t.ok(statSync(pidFile).size > 0)
    await again.stop()
  })

  await t.test('PostgreSQL killed under load is restarted', async (t) => {
    const embedded = await openEmbeddedCluster(t, dataDir)
    const before = pidOf(dataDir)
    await queryOnce(embedded.ownerUrl, 'create table written (number int primary key)')

    let confirmed = 0
    const writer = await connect(embedded.ownerUrl, 'test')
    const write = async (): Promise<never> => {
      for (let number = 1; ; number += 1) {
        await writer.query('insert into written values ($1)', [number])
        confirmed = number
        if (number === 50) {
          process.kill(before, 'SIGKILL')
        }
      }
    }
    await t.rejects(write())
    const rows = await retryUntilSuccess(() =>
      queryOnce(embedded.ownerUrl, 'select count(*)::int as count from written'),
    )
    t.not(pidOf(dataDir), before)
    t.ok(Number(rows[0]?.['count']) >= confirmed, 'with all that was confirmed')
    const locks = `select from pg_locks where locktype = 'advisory' and granted`
    await until(async () => (await queryOnce(embedded.ownerUrl, locks)).length === 1)
    await t.rejects(openEmbeddedCluster(t, dataDir), DataDirInUse, 'the same process owns it again')
  })

  await t.test('the next start takes over the PostgreSQL of a killed service', async (t) => {
    const service = await startClusterOwner(t, dataDir)
    const url = readFileSync(join(dataDir, 'database-owner-url'), 'utf8').trim()
    await queryOnce(url, 'create table left_behind as select 7 as number')
    await t.rejects(openEmbeddedCluster(t, dataDir), DataDirInUse, 'while the service lives')
    const orphan = pidOf(dataDir)
    await kill(service)

    await (await leaseEmbedded(dataDir)).close()
    t.equal(pidOf(dataDir), orphan, 'a tool leaves it as it was')
    const embedded = await openEmbeddedCluster(t, dataDir)
    t.equal(pidOf(dataDir), orphan)
    t.equal(embedded.ownerUrl, url)
    t.same(await queryOnce(url, 'select number from left_behind'), [{ number: 7 }])

    await embedded.stop()

    await t.test('a tool starts it and stops it again, unless another session uses it', async (t) => {
      const first = await leaseEmbedded(dataDir)
      const second = await leaseEmbedded(dataDir)
      t.same(await queryOnce(second.serviceUrl, 'select current_user as role'), [{ role: 'economy_service' }])
      await first.close()
      t.ok(findPostmaster(join(dataDir, 'postgres')), 'the second tool still has it')
      await second.close()

      await (await openEmbeddedCluster(t, dataDir)).stop()
      const alone = await leaseEmbedded(dataDir)
      await alone.close()
      t.equal(findPostmaster(join(dataDir, 'postgres')), null)
    })
    await t.rejects(leaseEmbedded(join(dataDir, 'elsewhere')), /There is no database in .*npm start/)
  })
})

test('a PostgreSQL that hangs', { skip: onlyInFullRun }, async (t) => {
  await Promise.all([
    t.test('is ended and started again by the service that owns it', async (t) => {
      const dataDir = newDataDir(t)
      const embedded = await openEmbeddedCluster(t, dataDir)
      await queryOnce(embedded.ownerUrl, 'create table kept as select 7 as number')
      const hanging = pidOf(dataDir)
      process.kill(hanging, 'SIGSTOP')
      await until(() => (findPostmaster(join(dataDir, 'postgres'))?.pid ?? hanging) !== hanging, HANG_DEADLINE_MS)
      t.same(await retryUntilSuccess(() => queryOnce(embedded.ownerUrl, 'select number from kept')), [{ number: 7 }])
    }),
    t.test('is waited for by a start, which says so, and is then ended', async (t) => {
      const dataDir = newDataDir(t)
      const service = await startClusterOwner(t, dataDir)
      await kill(service)
      const hanging = pidOf(dataDir)
      process.kill(hanging, 'SIGSTOP')
      const lines: unknown[] = []
      const log = { warn: (details: object, message: string) => void lines.push({ ...details, message }) }
      const embedded = await openEmbedded(dataDir, { log })
      t.teardown(() => embedded.stop())
      t.not(pidOf(dataDir), hanging)
      const postgresLog = join(dataDir, 'postgres.log')
      t.match(lines[0], { message: `waiting for embedded PostgreSQL (process ${hanging}); its log is ${postgresLog}` })
      t.match(lines.at(-1), { message: /answered nobody for a minute/, pid: hanging, log: postgresLog })
      t.same(await queryOnce(embedded.serviceUrl, 'select 1 as one'), [{ one: 1 }])
    }),
  ])
})

test('a PostgreSQL that hangs keeps no service from ending', { skip: onlyInFullRun }, async (t) => {
  for (const [what, suspended] of [
    ['all of it', (postmaster: number) => [postmaster, ...childrenOf(postmaster)]],
    ['its first process', (postmaster: number) => [postmaster]],
  ] as const) {
    await t.test(`when it stops: ${what}`, async (t) => {
      const dataDir = newDataDir(t)
      const service = await startService(t, { DATA_DIR: dataDir })
      for (const pid of suspended(pidOf(dataDir))) process.kill(pid, 'SIGSTOP')
      service.kill('SIGTERM')
      t.equal(await service.exited, 0)
      t.match(service.output(), 'embedded PostgreSQL answers nobody; ending it')
      t.equal(findPostmaster(join(dataDir, 'postgres')), null)
    })
  }

  await t.test('when it starts', async (t) => {
    const cluster = await prepareCluster(newDataDir(t))
    const stop = new AbortController()
    const start = async (port: number): Promise<void> => {
      await cluster.start(port)
      process.kill(cluster.running()?.pid ?? 0, 'SIGSTOP')
      stop.abort(new Error('ended by SIGTERM'))
    }
    await t.rejects(startAndConnect({ ...cluster, start }, stop), { message: 'ended by SIGTERM' })
    t.equal(cluster.running(), null)
  })
})

test('a start that fails leaves no PostgreSQL', { skip: onlyInFullRun }, async (t) => {
  const dataDir = newDataDir(t)
  await (await openEmbeddedCluster(t, dataDir)).stop()
  for (const role of ['postgres', 'economy-owner']) writeFileSync(join(dataDir, `${role}-password`), 'a'.repeat(64))
  const error: unknown = await openEmbedded(dataDir).catch((reason: unknown) => reason)
  t.match(
    String(error),
    /password authentication failed .*\. PostgreSQL was process \d+; its log is .*\/postgres\.log\.$/,
  )
  t.equal(findPostmaster(join(dataDir, 'postgres')), null)
  const interrupted = openEmbedded(dataDir, { signal: AbortSignal.abort(new Error('ended by SIGTERM')) })
  await t.rejects(interrupted, { message: 'ended by SIGTERM' })
  t.equal(findPostmaster(join(dataDir, 'postgres')), null)
})

test('as root', { skip: root ? onlyInFullRun : 'needs root' }, async (t) => {
  await t.test('PostgreSQL gets the one capability that it needs to enter its folder', async (t) => {
    const dataDir = newDataDir(t)
    const above = join(dataDir, '..')
    t.match(statSync(above), { uid: 0, mode: 0o40700 })
    const closed = await openEmbeddedCluster(t, dataDir)
    t.not(ownerOfProcess(pidOf(dataDir)), 0)
    t.equal(capabilities(pidOf(dataDir)), 2, 'CAP_DAC_OVERRIDE')
    t.match(statSync(above), { uid: 0, mode: 0o40700 }, 'and the permissions are unchanged')
    await closed.stop()

    chmodSync(above, 0o711)
    await openEmbeddedCluster(t, dataDir)
    t.not(ownerOfProcess(pidOf(dataDir)), 0)
    t.equal(capabilities(pidOf(dataDir)), 0, 'no capability where it may enter')
  })

  await t.test('also where its programs cannot be reached', async (t) => {
    const dataDir = newDataDir(t)
    mkdirSync(join(dataDir, 'bin'), { recursive: true, mode: 0o711 })
    const { postgres } = await findBinaries()
    const native = join(postgres, '../..')
    for (const part of ['lib', 'share']) symlinkSync(join(native, part), join(dataDir, part))
    for (const program of ['initdb', 'postgres']) {
      copyFileSync(join(native, 'bin', program), join(dataDir, 'bin', program))
    }
    const runner = await chooseRunner(dataDir, join(dataDir, 'bin/postgres'), null)
    // It looks for postgres in its own folder and runs it with --version before it shows its settings.
    const settings = await runner.run(join(dataDir, 'bin/initdb'), ['--show', `--pgdata=${dataDir}/none`])
    t.match(settings, 'PGDATA=')
  })

  await t.test('without setpriv the error says what to do', async (t) => {
    const child = spawnClusterOwner(newDataDir(t), { env: { PATH: '/nowhere' } })
    let errors = ''
    child.stderr?.on('data', (chunk) => (errors += String(chunk)))
    const [code] = await once(child, 'close')
    t.equal(code, 1)
    t.match(errors, /PostgreSQL does not run as root, and user \w+ cannot reach .*Move them/)
  })
})

const skip = canRunClusterOwner(user) ? onlyInFullRun : 'user nobody cannot enter this folder'
test('as a normal user, also when the process id of a killed PostgreSQL is in use', { skip }, async (t) => {
  const dataDir = newDataDir(t)
  mkdirSync(dataDir, { mode: 0o711 })
  if (user.uid) for (const path of [dataDir, join(dataDir, '..')]) chownSync(path, user.uid, user.gid)

  const first = await startClusterOwner(t, dataDir, user)
  const postmaster = pidOf(dataDir)
  t.equal(ownerOfProcess(postmaster), user.uid ?? process.geteuid?.())
  await kill(first)
  const stranger = spawn('sleep', ['3600'], user)
  t.teardown(() => stranger.kill())
  process.kill(postmaster, 'SIGKILL')
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
  writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(`${postmaster}`, `${stranger.pid}`))

  const second = await startClusterOwner(t, dataDir, user)
  t.not(pidOf(dataDir), stranger.pid)
  const ended = once(second, 'exit')
  second.kill('SIGTERM')
  t.same(await ended, [0, null])
  t.equal(findPostmaster(join(dataDir, 'postgres')), null)
})
