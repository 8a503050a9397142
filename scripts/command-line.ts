import { CommanderError } from 'commander'

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
