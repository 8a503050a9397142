import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../config/error-code.ts'
import { syncDirectory } from '../../config/secret-file.ts'
import type { Binaries } from './binaries.ts'
import { isAlive } from './postmaster.ts'
import type { Runner } from './run-as.ts'

const PREFIX = 'postgres-init-'

/**
 * Creates a cluster at `target` unless there is one: in a temporary folder, renamed when complete. A start that is killed
 * half way leaves nothing that looks like a cluster, and of two starts at once the first one wins.
 */
export async function initCluster(
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
