import { rebuild } from '../rebuild/rebuild.ts'
import { type Audit, type DeclareCommand, JSON_FLAG } from './command.ts'
import { count } from './terminal.ts'

interface Flags {
  readonly json?: true
}

export const rebuildCommand: DeclareCommand = (audit, running) =>
  void audit
    .command('rebuild')
    .description('builds all tables that follow from the ledger anew and swaps them in; the service may go on')
    .option(...JSON_FLAG)
    .action(running(run))

async function run({ ownerUrl, terminal, signal }: Audit, { json }: Flags): Promise<number> {
  const rebuilt = await rebuild(ownerUrl, { progress: terminal.progress, signal })
  if (json) {
    terminal.line(JSON.stringify(rebuilt))
    return 0
  }
  const { position, tables, rows, swapMs } = rebuilt
  terminal.line(
    `rebuilt: ${tables} tables of ${count(rows)} rows from ${count(position)} events in ${terminal.seconds().toFixed(1)} s; ` +
      `commands waited for ${count(swapMs)} ms`,
  )
  return 0
}
