import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../src/db/cluster/free-port.ts'
import { clock } from '../../../test/harness/load/clock.ts'
import { launchProcess } from '../../../test/harness/process/service.ts'
import type { DatabaseUrls } from './cluster.ts'
import { keys } from './keys.ts'

export interface Server {
  readonly port: number
  readonly pid: number
  /** When it was first seen to listen, by `clock`. */
  readonly readyAt: number
  /** Everything that it has printed so far. */
  output(): string
  stop(): Promise<void>
  /** Ends it with SIGKILL. */
  kill(): Promise<void>
}

/** How the product is started other than by default. */
export interface Launch {
  /** The folder of another checkout, with the dependencies installed there. */
  readonly folder?: string | null
  readonly nodeOptions?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Default: a free one. */
  readonly port?: number
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

  /** The product of this checkout. */
  ours(
    database: DatabaseUrls,
    nodeOptions: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    return this.product(database, { nodeOptions, environment })
  }

  /** The product, of this checkout or another one. */
  product(database: DatabaseUrls, launch: Launch): Promise<Server> {
    return this.#start([...(launch.nodeOptions ?? []), 'src/server.ts'], database, launch)
  }

  /** The naive baseline: one transaction per gift, one statement per read. */
  naive(database: DatabaseUrls, environment: Readonly<Record<string, string>> = {}): Promise<Server> {
    return this.#start(['scripts/bench/baselines/naive-server.ts'], database, { environment })
  }

  /** HTTP alone, without a database. */
  floor(environment: Readonly<Record<string, string>> = {}): Promise<Server> {
    const nowhere = { ownerUrl: '', serviceUrl: '' }
    return this.#start(['scripts/bench/baselines/floor-server.ts'], nowhere, { environment })
  }

  /** Waits until the server answers. */
  async #start(args: readonly string[], database: DatabaseUrls, launch: Launch): Promise<Server> {
    const port = launch.port ?? (await freePort())
    const cwd = typeof launch.folder === 'string' ? resolve(launch.folder) : undefined
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
      ...launch.environment,
    }
    const cleanUp = this.#cleanUp
    const child = launchProcess({ teardown: (stop) => cleanUp.defer(stop) }, args, env, port, cwd)
    let exited = false
    void child.exited.then(() => (exited = true))
    // Seen in its output at once; asking takes long while thousands of sockets come back.
    let readyAt: number | undefined
    void child.listening.then(() => (readyAt ??= clock()))
    while (!(await isUp(port))) {
      if (exited) throw new Error(`${args.join(' ')} ended: ${child.output().slice(-4_000)}`)
      await sleep(50)
    }
    const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
      if (!exited) child.kill(signal)
      await child.exited
    }
    return {
      port,
      pid: child.pid,
      readyAt: readyAt ?? clock(),
      output: () => child.output(),
      stop: () => end('SIGTERM'),
      kill: () => end('SIGKILL'),
    }
  }
}

async function isUp(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok
  } catch {
    return false
  }
}
