import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../src/db/cluster/free-port.ts'
import type { DatabaseUrls } from './cluster.ts'
import { keys } from './keys.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

export interface Server {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

/** Starts the contenders. Each one is stopped by `cleanUp`, from the moment that its process is there. */
export class Servers {
  readonly #folder: string
  readonly #cleanUp: AsyncDisposableStack

  /** `folder` is for what they keep beside a database. */
  constructor(folder: string, cleanUp: AsyncDisposableStack) {
    this.#folder = folder
    this.#cleanUp = cleanUp
  }

  /** The product as it is run, on a database of its own. */
  ours(
    database: DatabaseUrls,
    nodeOptions: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    return this.#start([...nodeOptions, 'src/server.ts'], database, root, environment)
  }

  /** The product of another checkout, installed there. */
  checkout(folder: string, database: DatabaseUrls): Promise<Server> {
    return this.#start(['src/server.ts'], database, resolve(folder))
  }

  /** The same service written one request, one transaction. */
  naive(database: DatabaseUrls): Promise<Server> {
    return this.#start(['scripts/bench/baselines/naive-server.ts'], database)
  }

  /** The same service without a database. */
  floor(): Promise<Server> {
    return this.#start(['scripts/bench/baselines/floor-server.ts'], { ownerUrl: '', serviceUrl: '' })
  }

  /** Waits until it answers. */
  async #start(
    args: readonly string[],
    database: DatabaseUrls,
    cwd = root,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    const port = await freePort(null)
    const child = spawn(process.execPath, args, {
      cwd,
      env: {
        PATH: process.env['PATH'] ?? '',
        PORT: String(port),
        HOST: '127.0.0.1',
        DATABASE_URL: database.serviceUrl,
        DATABASE_OWNER_URL: database.ownerUrl,
        DATA_DIR: join(this.#folder, 'service'),
        RATE_LIMIT: 'off',
        DAILY_WRITE_BYTES: 'off',
        LOG_LEVEL: 'warn',
        DEMO: '0',
        ...keys,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const stop = () => stopChild(child)
    this.#cleanUp.defer(stop)
    let said = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-4000)))
    }
    while (!(await answers(port))) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${args.join(' ')} ended: ${said}`)
      await sleep(50)
    }
    return { port, pid: child.pid ?? 0, stop }
  }
}

async function answers(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/healthz`)).ok
  } catch {
    return false
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
