import { userInfo } from 'node:os'
import { CommanderError } from 'commander'
import { evolve, tables } from '../src/domain.ts'
import { Executor } from '../src/ledger/executor/executor.ts'

/** The actor on the ledger for a command line: the user's name, or the user id where the system has no name. */
export function localStaffName(): string {
  try {
    return `staff:${userInfo().username}`
  } catch {
    return `staff:${process.getuid?.() ?? 'unknown'}`
  }
}

/** Calls `work` with an executor. It is one more writer to the ledger, next to the instances of the service. */
export async function withExecutor<Result>(
  url: string,
  work: (executor: Executor) => Promise<Result>,
): Promise<Result> {
  const silent = { committed: () => {}, bug: () => {}, failed: () => {} }
  const executor = new Executor({ url, tables, evolve, observer: silent })
  try {
    return await work(executor)
  } finally {
    await executor.close()
  }
}

/** Aborted by SIGINT or SIGTERM; the reason is an Error that names the signal. */
export function interruptionSignal(): AbortSignal {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Not `once`: npm passes Ctrl-C on twice, and a second signal must not end the process before it closes the database.
    process.on(signal, () => interrupted.abort(new Error(`ended by ${signal}`)))
  }
  return interrupted.signal
}

/** Runs a command line, prints its error and sets the exit code. */
export async function runCommandLine(name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    // Commander has already printed its help or usage error.
    if (!(error instanceof CommanderError)) {
      console.error(`${name} stopped: ${error instanceof Error ? error.message || error.name : String(error)}`)
    }
    process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : 1
  }
}
