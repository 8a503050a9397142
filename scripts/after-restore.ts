import { Command, CommanderError } from 'commander'
import { afterRestore } from '../src/audit/after-restore.ts'
import { closingsFolder } from '../src/audit/closings/files.ts'
import { openTerminal } from '../src/audit/commands/terminal.ts'
import { readCheckpointFile } from '../src/audit/commands/verify.ts'
import { dataDirOf, withDatabase } from '../src/audit/database.ts'
import { readLedgerSchema } from '../src/config/environment.ts'
import { lastSeenFile } from '../src/db/last-seen.ts'
import { type Caller, processCaller } from './audit.ts'

interface Flags {
  readonly checkpoint?: string
}

/** Runs the command line with these arguments; answers its exit code: 0 when the ledger may serve, else 1. */
export async function runAfterRestore(args: readonly string[], caller: Caller): Promise<number> {
  const { env, stdout, stderr, signal } = caller
  const terminal = openTerminal(stdout, stderr)
  let mayServe = false
  const run = async (flags: Flags): Promise<void> => {
    const checkpoint = flags.checkpoint === undefined ? null : readCheckpointFile(flags.checkpoint, {}, env)
    const [dataDir, schema] = [dataDirOf(env), readLedgerSchema(env)]
    const [seenFile, closings] = [lastSeenFile(dataDir, schema), closingsFolder(dataDir, schema)]
    mayServe = await withDatabase(env, signal, ({ url }) =>
      afterRestore({ url, seenFile, closings, checkpoint, terminal, signal }),
    )
    await terminal.flushed()
  }
  const afterRestoreCommand = new Command('npm run after-restore --')
    .description(
      'lets the service start on a ledger that went back, in the database of DATABASE_URL, else in DATA_DIR: verifies it, ' +
        'prints what has to be done again, and records that commits were lost. The service must be stopped',
    )
    .option('--checkpoint <file>', 'the last output of `audit checkpoint`: what the ledger had')
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .exitOverride()
    .action(run)
  try {
    await afterRestoreCommand.parseAsync(args, { from: 'user' })
  } catch (error) {
    // Commander has already printed its help or usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
    terminal.remark(`after-restore stopped: ${error instanceof Error ? error.message : String(error)}`)
  }
  return mayServe ? 0 : 1
}

if (import.meta.main) process.exitCode = await runAfterRestore(process.argv.slice(2), processCaller())
