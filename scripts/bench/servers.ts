import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../src/db/cluster/cluster-session.ts'
import { clock } from '../../test/harness/load/clock.ts'
import type { TestDatabase } from '../../test/harness/postgres/test-database.ts'
import { launchProcess } from '../../test/harness/process/service.ts'
import { keys } from '../../test/harness/scenario/service-keys.ts'
import type { Bench } from './bench.ts'

export interface Server {
  readonly port: number
  readonly pid: number
  /** When it was seen to listen, by `clock`. */
  readonly readyAt: number
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export interface Launch {
  /** Default: the service. */
  readonly script?: string
  /** Null: it needs none. */
  readonly database: TestDatabase | null
  /** Another checkout. */
  readonly folder?: string
  /** A server that has ended, whose port it gets. */
  readonly former?: Server | undefined
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts a service, or a server that it is compared with, and waits until it listens. `cleanUp` stops it. */
export async function startServer(
  { cluster, cleanUp }: Pick<Bench, 'cluster' | 'cleanUp'>,
  { script = 'src/server.ts', database, folder, environment = {}, former }: Launch,
): Promise<Server> {
  const port = former?.port ?? (await freePort())
  const DATA_DIR = join(cluster.folder, database?.name ?? 'none')
  mkdirSync(DATA_DIR, { recursive: true, mode: 0o700 })
  const env = {
    HOST: '127.0.0.1',
    DATABASE_URL: database?.serviceUrl ?? '',
    DATABASE_OWNER_URL: database?.ownerUrl ?? '',
    DATA_DIR,
    LOG_LEVEL: 'warn',
    DEMO: '0',
    // So that a run can profile it.
    NODE_OPTIONS: process.env['NODE_OPTIONS'] ?? '',
    ...keys,
    ...environment,
  }
  const child = launchProcess({ teardown: (stop) => cleanUp.defer(stop) }, [script], env, port, folder)
  const code = await Promise.race([child.listening, child.exited])
  if (code !== undefined) throw new Error(`${script} ended with ${code}: ${child.output().slice(-4_000)}`)
  return {
    port,
    pid: child.pid,
    readyAt: clock(),
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await child.exited
    },
  }
}

/** Sends JSON to a service; the `data` of the answer. Throws for an error. */
export async function sendJson(port: number, token: string, method: 'PUT' | 'POST', path: string, body: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`)
  return Object(JSON.parse(text)).data
}
