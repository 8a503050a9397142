import { type Command, CommanderError } from 'commander'
import type { LedgerWriter } from '../src/audit/with-ledger.ts'
import type { Variables } from '../src/config/environment.ts'
import { stopSignal } from '../src/startup/process.ts'

/** What a command line is given: by its process, or by a test that calls it as a function. */
export interface Invocation {
  readonly args: readonly string[]
  readonly env: Variables
  /** Writes to stdout. */
  readonly out: (text: string) => void
  /** Writes to stderr. */
  readonly err: (text: string) => void
  /** Aborted by SIGINT or SIGTERM; the reason is an Error that names the signal. */
  readonly interrupted: AbortSignal
}

/** What this process was given. From now on a signal ends it only after some seconds, if the command does not end before. */
export function processInvocation(): Invocation {
  return {
    args: process.argv.slice(2),
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    interrupted: stopSignal('The command'),
  }
}

/** The command line as one that writes the ledger in the database at this address. */
export const writerOf = (url: string, { env, err }: Invocation): LedgerWriter => ({
  url,
  env,
  remark: (text) => err(`${text}\n`),
})

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
