import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { prepareCluster } from '../../../src/db/cluster/cluster.ts'
import { type Embedded, openEmbedded } from '../../../src/db/cluster/embedded.ts'
import { findPostmaster } from '../../../src/db/cluster/postmaster.ts'
import { DEADLINE_MS } from '../until.ts'
import { base } from './test-cluster.ts'

const ownerProcess = join(import.meta.dirname, 'cluster-owner-process.ts')

/** A path with a space that does not exist yet, in a folder that only its owner can read; removed after the test. */
export function newDataDir(t: Test): string {
  const folder = mkdtempSync(join(base, 'economy-embedded-'))
  const dataDir = join(folder, 'the data')
  t.teardown(async () => {
    // A test may have run PostgreSQL as another user.
    if (process.geteuid?.() === 0 && existsSync(dataDir)) chownFiles(0, dataDir)
    if (existsSync(join(dataDir, 'postgres'))) await (await prepareCluster(dataDir)).stop()
    rmSync(folder, { recursive: true })
  })
  return dataDir
}

/** Changes the owner of the folder and its files, but not of its subfolders. */
function chownFiles(uid: number, folder: string): void {
  chownSync(folder, uid, uid)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isFile()) chownSync(join(folder, entry.name), uid, uid)
  }
}

/** Opens the cluster in this process, without log lines, and stops it after the test. */
export async function openEmbeddedCluster(t: Test, dataDir: string): Promise<Embedded> {
  const embedded = await openEmbedded(dataDir, { log: { warn: () => {} } })
  t.teardown(() => embedded.stop())
  return embedded
}

export function spawnClusterOwner(
  dataDir: string,
  options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv },
): ChildProcess {
  return spawn(process.execPath, [ownerProcess, dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  })
}

/** Whether this user can read this checkout and run Node; not when one of them is in /root. */
export function canRunClusterOwner(as: { uid?: number; gid?: number }): boolean {
  const readable = ['-c', 'test -r "$1" && test -x "$2"', 'sh', ownerProcess, process.execPath]
  return spawnSync('/bin/sh', readable, as).status === 0
}

export async function startClusterOwner(
  t: Test,
  dataDir: string,
  as: { uid?: number; gid?: number } = {},
): Promise<ChildProcess> {
  const child = spawnClusterOwner(dataDir, as)
  t.teardown(() => child.kill('SIGKILL'))
  let errorOutput = ''
  child.stderr?.on('data', (chunk) => (errorOutput += String(chunk)))
  if (child.stdout === null) throw new Error('no stdout')
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'close').then(() => Promise.reject(new Error(`the cluster owner did not start: ${errorOutput}`))),
  ])
  return child
}

export async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

export function pidOf(dataDir: string): number {
  const postmaster = findPostmaster(join(dataDir, 'postgres'))
  if (postmaster === null) throw new Error('PostgreSQL is not running')
  return postmaster.pid
}

export function ownerOfProcess(pid: number): number {
  return statSync(`/proc/${pid}`).uid
}

export function capabilities(pid: number): number {
  return Number.parseInt(/^CapEff:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '', 16)
}

/** Retries until it succeeds or the deadline passes. */
export async function retryUntilSuccess<T>(work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + DEADLINE_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
    await sleep(20)
  }
}
