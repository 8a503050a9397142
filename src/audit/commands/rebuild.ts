import { readSealsFolder } from '../../config/environment.ts'
import { silent } from '../../db/log.ts'
import { Jobs } from '../jobs/jobs.ts'
import { rebuild } from '../rebuild/rebuild.ts'
import { localStaffName } from '../with-ledger.ts'
import { type CommandContext, JSON_FLAG, type RegisterCommand } from './command.ts'
import { formatCount } from './terminal.ts'

interface Flags {
  readonly full?: true
  readonly json?: true
}

export const rebuildCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('rebuild')
    .description(
      'rebuilds all tables that are derived from the ledger and swaps them in; the service may run meanwhile',
    )
    .option('--full', 'begins at position 1, not at the newest seal, and rebuilds the index of the ledger, too')
    .option(...JSON_FLAG)
    .action(running(run))

async function run(
  { ownerUrl, serviceUrl, env, terminal, signal }: CommandContext,
  { full, json }: Flags,
): Promise<number> {
  await using jobs = new Jobs(serviceUrl, silent)
  const { ended } = await jobs.start(
    { kind: 'rebuild', subject: '', startedBy: localStaffName(), of: 0 },
    async (_job, progress, stop) => {
      const seals = full ? {} : { sealsFolder: readSealsFolder(env) }
      const result = await rebuild(ownerUrl, { progress, signal: stop, ...seals })
      return { result, summary: `${result.tables} tables of ${result.rows} rows from ${result.position} events.` }
    },
    { signal, progress: terminal.progress },
  )
  const rebuilt = await ended
  if (json) {
    terminal.line(JSON.stringify(rebuilt))
    return 0
  }
  const { position, tables, rows, swapMs, seal, notices } = rebuilt
  for (const notice of notices) terminal.line(`notice: ${notice}`)
  if (seal !== null) terminal.line(`from seal at ${seal}; the index of the ledger stays as it is`)
  terminal.line(
    `rebuilt: ${tables} tables of ${formatCount(rows)} rows from ${formatCount(position)} events in ${terminal.elapsedSeconds().toFixed(1)} s; ` +
      `commands waited for ${formatCount(swapMs)} ms`,
  )
  return 0
}
