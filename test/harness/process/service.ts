import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../app/temporary-folder.ts'
import { testSchema } from '../postgres/test-schema.ts'
import type { Scope } from '../scope.ts'
import { reservePort } from './reserve-port.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The compile cache of `npm start` and `npm test`. */
const compileCache = join(root, 'node_modules/.cache/compiled')

/** A service in a process of its own, as `npm start` runs it. */
export interface ServiceProcess {
  readonly origin: string
  readonly pid: number
  /** Everything that it has printed so far. */
  output(): string
  /** Resolves with the exit code, or with null when a signal ended the process. */
  readonly exited: Promise<number | null>
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

/** Starts a service and waits until it listens or exits. It is stopped when the test ends. */
export async function startService(
  t: Scope,
  environment: Readonly<Record<string, string>>,
  port?: number,
): Promise<ServiceProcess> {
  const own = { DATA_DIR: temporaryFolder(t), ...environment }
  const service = launchService(t, own, port ?? (await reservePort()))
  await Promise.race([service.listening, service.exited])
  return service
}

/** Starts a service without waiting, in this checkout or another one. */
export const launchService = (
  t: Scope,
  environment: Readonly<Record<string, string>>,
  port: number,
  folder?: string,
): LaunchedProcess => {
  const unlimited = { RATE_LIMIT: 'off', ADDRESS_LIMIT: 'off', DAILY_WRITE_BYTES: 'off' }
  return launchProcess(t, ['src/server.ts'], { ...unlimited, ...environment }, port, folder)
}

interface LaunchedProcess extends ServiceProcess {
  /** Resolves when it has printed that it listens. */
  readonly listening: Promise<void>
}

/** Runs Node with these arguments, in this checkout or another one. It is stopped when the test ends. */
export function launchProcess(
  t: Scope,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  port: number,
  cwd = root,
): LaunchedProcess {
  const child = spawn(process.execPath, args, {
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      PORT: String(port),
      LEDGER_SCHEMA: testSchema,
      NODE_COMPILE_CACHE: compileCache,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let isListening = false
  const exited = ended(child)
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await exited
  })
  const listening = new Promise<void>((resolve) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      // Printed in one piece with the tokens of development, once the service listens.
      if (!isListening && /^API .*\n/m.test(output)) {
        isListening = true
        resolve()
      }
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
  })
  return {
    listening,
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    output: () => output,
    exited,
    kill: (signal) => child.kill(signal),
  }
}

async function ended(child: ChildProcess): Promise<number | null> {
  await once(child, 'exit')
  return child.exitCode
}

/** A user's token from the output of the service. */
export function tokenIn(output: string, name: string): string {
  const token = new RegExp(`${name}\\s+(eyJ\\S+)`).exec(output)?.[1]
  if (token === undefined) throw new Error(`no token of ${name} in: ${output}`)
  return token
}
