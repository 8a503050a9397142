import { Command, CommanderError } from 'commander'
import { chooseReportUrl } from '../src/audit/choose-report-url.ts'
import type { CommandHandler } from '../src/audit/commands/command.ts'
import { commands } from '../src/audit/commands/commands.ts'
import { openTerminal } from '../src/audit/commands/terminal.ts'
import { withDatabase } from '../src/audit/database.ts'
import { errorCode } from '../src/config/error-code.ts'

// Exit codes: 0 clean, 1 findings, 2 could not run.
const EXIT_FINDINGS = 1
const EXIT_COULD_NOT_RUN = 2

const audit = new Command('audit')
  .description("reads and checks the service's books in the database of DATABASE_URL, else in DATA_DIR")
  .exitOverride()
// The help lists all commands.
const requested = commands.get(process.argv[2] ?? '')
for (const load of requested === undefined ? commands.values() : [requested]) (await load())(audit, createAction)

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Not `once`: npm passes Ctrl-C on twice, and a second signal must not end the process before it closes the database.
  process.on(signal, () => interruption.abort(new Error(`ended by ${signal}`)))
}
/** As a reader would type it; what a shell would not take as one word is quoted. */
const asked = process.argv
  .slice(2)
  .map((word) => (/^[\w./:=+-]+$/.test(word) ? word : JSON.stringify(word)))
  .join(' ')
const terminal = openTerminal(process.stdout, process.stderr)

try {
  await audit.parseAsync()
} catch (error) {
  // Commander has already printed its help or usage error.
  const isUsageError = error instanceof CommanderError
  terminal.clear()
  if (!isUsageError) console.error(`audit could not run: ${oneLine(error)}`)
  process.exitCode = isUsageError && error.exitCode === 0 ? 0 : EXIT_COULD_NOT_RUN
}

function createAction<Flags>(handler: CommandHandler<Flags>): (flags: Flags) => Promise<void> {
  return async (flags) => {
    const { signal } = interruption
    const { env } = process
    const findings = await withDatabase(env, (database) => {
      const reportUrl = (): Promise<string> => chooseReportUrl(database, signal, console.error)
      return handler(
        { ownerUrl: database.ownerUrl, serviceUrl: database.url, reportUrl, env, asked, terminal, signal },
        flags,
      )
    })
    await terminal.flushed()
    process.exitCode = findings > 0 ? EXIT_FINDINGS : 0
  }
}

/** The error of a refused connection to a host with several addresses has a code but no message. */
function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return (text || (errorCode(error) ?? 'unknown error')).replaceAll(/\s*\n\s*/g, ' ')
}
