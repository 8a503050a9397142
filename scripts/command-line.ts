import { type Command, CommanderError } from 'commander'

/** What a command line is given: by its process, or by a test that calls it as a function. */
export interface Invocation {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Writes to stdout. */
  readonly out: (text: string) => void
  /** Writes to stderr. */
  readonly err: (text: string) => void
  /** Aborted by SIGINT or SIGTERM; the reason is an Error that names the signal. */
  readonly interrupted: AbortSignal
}

/** What this process was given. From now on signals do not end it by themselves. */
export function processInvocation(): Invocation {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Not `once`: npm passes Ctrl-C on twice, and a second signal must not end the process before it closes the database.
    process.on(signal, () => interrupted.abort(new Error(`ended by ${signal}`)))
  }
  return {
    args: process.argv.slice(2),
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    interrupted: interrupted.signal,
  }
}

/** Runs a command with these arguments and prints its error. Answers the exit code: 0, or 1 for any error. */
export async function runCommandLine(name: string, { args, out, err }: Invocation, command: Command): Promise<number> {
  try {
    await command.exitOverride().configureOutput({ writeOut: out, writeErr: err }).parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has already printed its help or usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
    err(`${name} stopped: ${error instanceof Error ? error.message || error.name : String(error)}\n`)
    return 1
  }
}
