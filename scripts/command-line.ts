import { userInfo } from 'node:os'
import { CommanderError } from 'commander'
import { evolve, tables } from '../src/domain.ts'
import { Executor } from '../src/ledger/executor/executor.ts'

/** Who is at the command line, as the ledger names them; where the system has no name for them, by their number. */
export function localStaffName(): string {
  try {
    return `staff:${userInfo().username}`
  } catch {
    return `staff:${process.getuid?.() ?? 'unknown'}`
  }
}

/** Works with an executor of its own, one instance more: it waits in the same line as the service. */
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

/** Aborted by Ctrl-C or SIGTERM, with an Error that says so. */
export function interruptionSignal(): AbortSignal {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Heard every time: npm hands Ctrl-C on twice, and the database that was borrowed is to be given back.
    process.on(signal, () => interrupted.abort(new Error(`ended by ${signal}`)))
  }
  return interrupted.signal
}

/** Runs a command line and sets the exit code; says what stopped it. */
export async function runCommandLine(name: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    // What is wrong with the command line, and help, commander has already said.
    if (!(error instanceof CommanderError)) {
      console.error(`${name} stopped: ${error instanceof Error ? error.message || error.name : String(error)}`)
    }
    process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : 1
  }
}
