import { Command, CommanderError } from 'commander'
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
// Help wants them all.
const requested = commands.get(process.argv[2] ?? '')
for (const load of requested === undefined ? commands.values() : [requested]) (await load())(audit, createAction)

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Heard every time: npm hands Ctrl-C on twice, and the database that was borrowed is to be given back.
  process.on(signal, () => interruption.abort(new Error(`ended by ${signal}`)))
}
const terminal = openTerminal(process.stdout, process.stderr)

try {
  await audit.parseAsync()
} catch (error) {
  // What is wrong with the command line, and help, commander has already said.
  const usage = error instanceof CommanderError
  terminal.clear()
  if (!usage) console.error(`audit could not run: ${oneLine(error)}`)
  process.exitCode = usage && error.exitCode === 0 ? 0 : EXIT_COULD_NOT_RUN
}

function createAction<Flags>(work: CommandHandler<Flags>): (flags: Flags) => Promise<void> {
  return async (flags) => {
    const { signal } = interruption
    const { env } = process
    const found = await withDatabase(env, (database) => work({ ...database, env, terminal, signal }, flags))
    await terminal.flushed()
    process.exitCode = found > 0 ? EXIT_FINDINGS : 0
  }
}

/** A refused connection to a name with several addresses comes with no message. */
function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return (text || (errorCode(error) ?? 'for no known reason')).replaceAll(/\s*\n\s*/g, ' ')
}
