import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../src/db/cluster/free-port.ts'
import { launchProcess } from '../../../test/harness/process/service.ts'
import type { DatabaseUrls } from './cluster.ts'
import { keys } from './keys.ts'

export interface Server {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

/** Starts the servers that are compared. `cleanUp` stops them. */
export class Servers {
  readonly #folder: string
  readonly #cleanUp: AsyncDisposableStack
  readonly #environment: Readonly<Record<string, string>>

  /** `folder`: for their data directories. `environment`: for all of them. */
  constructor(folder: string, cleanUp: AsyncDisposableStack, environment: Readonly<Record<string, string>> = {}) {
    this.#folder = folder
    this.#cleanUp = cleanUp
    this.#environment = environment
  }

  /** The product. */
  ours(
    database: DatabaseUrls,
    nodeOptions: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    return this.#start([...nodeOptions, 'src/server.ts'], database, undefined, environment)
  }

  /** The product of another checkout, with the dependencies installed there. */
  checkout(folder: string, database: DatabaseUrls): Promise<Server> {
    return this.#start(['src/server.ts'], database, resolve(folder))
  }

  /** The naive baseline: one transaction per gift, one statement per read. */
  naive(database: DatabaseUrls, environment: Readonly<Record<string, string>> = {}): Promise<Server> {
    return this.#start(['scripts/bench/baselines/naive-server.ts'], database, undefined, environment)
  }

  /** HTTP alone, without a database. */
  floor(environment: Readonly<Record<string, string>> = {}): Promise<Server> {
    const nowhere = { ownerUrl: '', serviceUrl: '' }
    return this.#start(['scripts/bench/baselines/floor-server.ts'], nowhere, undefined, environment)
  }

  /** Waits until the server answers. */
  async #start(
    args: readonly string[],
    database: DatabaseUrls,
    cwd?: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    const port = await freePort()
    const env = {
      HOST: '127.0.0.1',
      DATABASE_URL: database.serviceUrl,
      DATABASE_OWNER_URL: database.ownerUrl,
      DATA_DIR: join(this.#folder, 'service'),
      RATE_LIMIT: 'off',
      DAILY_WRITE_BYTES: 'off',
      LOG_LEVEL: 'warn',
      DEMO: '0',
      ...keys,
      ...this.#environment,
      ...environment,
    }
    const cleanUp = this.#cleanUp
    const child = launchProcess({ teardown: (stop) => cleanUp.defer(stop) }, args, env, port, cwd)
    let exited = false
    void child.exited.then(() => (exited = true))
    while (!(await isUp(port))) {
      if (exited) throw new Error(`${args.join(' ')} ended: ${child.output().slice(-4_000)}`)
      await sleep(50)
    }
    const stop = async (): Promise<void> => {
      if (!exited) child.kill('SIGTERM')
      await child.exited
    }
    return { port, pid: child.pid, stop }
  }
}

async function isUp(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok
  } catch {
    return false
  }
}
