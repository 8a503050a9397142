import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { openEmbedded } from '../../../src/db/cluster/embedded.ts'
import { findPostmaster } from '../../../src/db/cluster/postmaster.ts'
import { inTestSchema } from '../../harness/postgres/test-schema.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'

/** A PostgreSQL that this process owns. */
export interface OwnPostgres {
  readonly dataDir: string
  readonly ownerUrl: string
  readonly serviceUrl: string
  /** Closes all sessions and stops it. */
  stop(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
}

export async function ownPostgres(context: ScenarioContext, dataDir: string): Promise<OwnPostgres> {
  let embedded = await openEmbedded(dataDir, { log: { warn: () => {} } })
  const ownerUrl = inTestSchema(embedded.ownerUrl)
  const serviceUrl = inTestSchema(embedded.serviceUrl)
  context.teardown(() => embedded.stop())
  return {
    dataDir,
    ownerUrl,
    serviceUrl,
    stop: () => embedded.stop(),
    async start() {
      embedded = await openEmbedded(dataDir, { log: { warn: () => {} } })
      if (inTestSchema(embedded.serviceUrl) !== serviceUrl) throw new Error('PostgreSQL came back at another address')
    },
  }
}

/** The process id of the postmaster of a data directory; undefined when it does not run. */
export const postmasterOf = (dataDir: string): number | undefined =>
  findPostmaster(join(realpathSync(dataDir), 'postgres'))?.pid

const runningPostmaster = (dataDir: string): number => {
  const pid = postmasterOf(dataDir)
  if (pid === undefined) throw new Error('PostgreSQL is not running')
  return pid
}

/** `kill -9` of the postmaster; its children notice by themselves. Answers its process id. */
export function killPostmaster(dataDir: string): number {
  const pid = runningPostmaster(dataDir)
  process.kill(pid, 'SIGKILL')
  return pid
}

/** `kill -9` of a random child of the postmaster, like the kernel when memory is short: PostgreSQL restarts all of them. */
export function killChild(context: ScenarioContext, dataDir: string): void {
  process.kill(context.random.oneOf(childrenOf(runningPostmaster(dataDir))), 'SIGKILL')
}

/** The address of the database `postgres` for its superuser. */
export function superuserUrl(dataDir: string, databaseUrl: string): string {
  const url = new URL(databaseUrl)
  url.username = 'postgres'
  url.password = readFileSync(join(dataDir, 'postgres-password'), 'utf8').trim()
  url.pathname = '/postgres'
  return url.href
}

/** Suspends every process of PostgreSQL (SIGSTOP); answers a function that resumes them. */
export function freeze(context: ScenarioContext, dataDir: string): () => void {
  const postmaster = runningPostmaster(dataDir)
  // The postmaster first, as it starts no more processes then.
  process.kill(postmaster, 'SIGSTOP')
  return freezeAll(context, [postmaster, ...childrenOf(postmaster)])
}

/** Suspends only the process of one session. */
export const freezeSession = (context: ScenarioContext, pid: number): (() => void) => freezeAll(context, [pid])

function freezeAll(context: ScenarioContext, pids: number[]): () => void {
  for (const pid of pids) signal(pid, 'SIGSTOP')
  const resume = (): void => {
    for (const pid of pids.splice(0)) signal(pid, 'SIGCONT')
  }
  // Suspended processes could not be stopped at the end.
  context.teardown(async () => resume())
  return resume
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended.
  }
}

const childrenOf = (parent: number): number[] =>
  readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ').map(Number)
