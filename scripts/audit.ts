import type { Writable } from 'node:stream'
import { Command, CommanderError } from 'commander'
import type { CommandHandler } from '../src/audit/commands/command.ts'
import { commands } from '../src/audit/commands/commands.ts'
import { openTerminal } from '../src/audit/commands/terminal.ts'
import { chooseReportUrl, withDatabase } from '../src/audit/database.ts'
import type { Variables } from '../src/config/environment.ts'
import { errorCode } from '../src/config/error-code.ts'
import { stopSignal } from '../src/startup/process.ts'

// Exit codes: 0 clean, 1 findings, 2 could not run.
const EXIT_FINDINGS = 1
const EXIT_COULD_NOT_RUN = 2

/** Who called the command line, and where its output goes. */
export interface Caller {
  readonly env: Variables
  readonly stdout: Writable
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** Aborted when the command must end. */
  readonly signal: AbortSignal
}

/** Runs the command line with these arguments; answers its exit code. */
export async function runAudit(args: readonly string[], { env, stdout, stderr, signal }: Caller): Promise<number> {
  const terminal = openTerminal(stdout, stderr)
  let exitCode = 0
  const createAction =
    <Flags>(handler: CommandHandler<Flags>) =>
    async (flags: Flags): Promise<void> => {
      let remarked = 0
      const remarkFinding = (finding: string): void => {
        terminal.remark(finding)
        remarked += 1
      }
      const findings = await withDatabase(env, signal, (database) => {
        const reportUrl = (): Promise<string> => chooseReportUrl(database, signal, terminal.remark)
        const { ownerUrl, url: serviceUrl } = database
        return handler({ ownerUrl, serviceUrl, reportUrl, env, asked, terminal, remarkFinding, signal }, flags)
      })
      await terminal.flushed()
      exitCode = findings + remarked > 0 ? EXIT_FINDINGS : 0
    }
  const audit = new Command('audit')
    .description("reads and checks the service's books in the database of DATABASE_URL, else in DATA_DIR")
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .exitOverride()
  // The help lists all commands.
  const requested = commands.get(args[0] ?? '')
  for (const load of requested === undefined ? commands.values() : [requested]) (await load())(audit, createAction)
  /** As a reader would type it; what a shell would not take as one word is quoted. */
  const asked = args.map((word) => (/^[\w./:=+-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')
  try {
    await audit.parseAsync(args, { from: 'user' })
  } catch (error) {
    // Commander has already printed its help or usage error.
    const isUsageError = error instanceof CommanderError
    // Where the end was asked for, what failed then only follows from it.
    if (!isUsageError) terminal.remark(`audit could not run: ${oneLine(signal.aborted ? signal.reason : error)}`)
    return isUsageError && error.exitCode === 0 ? 0 : EXIT_COULD_NOT_RUN
  }
  return exitCode
}

/** The error of a refused connection to a host with several addresses has a code but no message. */
function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return (text || (errorCode(error) ?? 'unknown error')).replaceAll(/\s*\n\s*/g, ' ')
}

/** This process. From now on signals do not end it by themselves. */
export function processCaller(): Caller {
  const { env, stdout, stderr } = process
  return { env, stdout, stderr, signal: stopSignal('The command', EXIT_COULD_NOT_RUN) }
}

if (import.meta.main) process.exitCode = await runAudit(process.argv.slice(2), processCaller())
