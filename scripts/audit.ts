import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { withDatabase } from '../src/audit/database.ts'
import { openTerminal, type Terminal } from '../src/audit/terminal.ts'
import { type VerifyFlags, verifyCommand } from '../src/audit/verify-command.ts'
import { errorCode } from '../src/error-code.ts'

// Exit codes: 0 clean, 1 findings, 2 could not run.
const FINDINGS = 1
const COULD_NOT_RUN = 2

/** Answers how much was found. */
type Audit<Flags> = (url: string, flags: Flags, terminal: Terminal, signal: AbortSignal) => Promise<number>

const audit = new Command('audit')
  .description("checks the service's books in the database of DATABASE_URL, else in DATA_DIR")
  .exitOverride()

audit
  .command('verify')
  .description('replays the ledger and compares it with itself and with every table')
  .option('--as-of <position>', 'the last position to look at', positionOf)
  .option('--json', 'one JSON document')
  .action(running<VerifyFlags>(verifyCommand))

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Heard every time: npm hands Ctrl-C on twice, and the database that was borrowed is to be given back.
  process.on(signal, () => interruption.abort(new Error(`ended by ${signal}`)))
}

try {
  await audit.parseAsync()
} catch (error) {
  // What is wrong with the command line, and help, commander has already said.
  const usage = error instanceof CommanderError
  if (!usage) console.error(`audit could not run: ${oneLine(error)}`)
  process.exitCode = usage && error.exitCode === 0 ? 0 : COULD_NOT_RUN
}

function running<Flags>(command: Audit<Flags>): (flags: Flags) => Promise<void> {
  return async (flags) => {
    const terminal = openTerminal(process.stdout, process.stderr)
    const found = await withDatabase(process.env, (url) => command(url, flags, terminal, interruption.signal))
    process.exitCode = found > 0 ? FINDINGS : 0
  }
}

function positionOf(text: string): number {
  const position = /^[1-9][0-9]*$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(position)) throw new InvalidArgumentError('It is a position from 1 on.')
  return position
}

/** A refused connection to a name with several addresses comes with no message. */
function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return (text || (errorCode(error) ?? 'for no known reason')).replaceAll(/\s*\n\s*/g, ' ')
}
