import { readSealsFolder } from '../../config/environment.ts'
import { silent } from '../../db/log.ts'
import { openPool } from '../../db/pool.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import { recordSeal } from '../../features/closings/seal.ts'
import type { Executor } from '../../ledger/executor/executor.ts'
import { runVerb } from '../../ledger/executor/run-verb.ts'
import { findKey, requireSigner } from '../checkpoint.ts'
import { Jobs } from '../jobs/jobs.ts'
import { makeSeal } from '../seals/seal.ts'
import { ONE_VERIFICATION } from '../verify/verifications.ts'
import { localStaffName, withLedger } from '../with-ledger.ts'
import type { CommandContext, RegisterCommand } from './command.ts'
import { formatReport } from './verify.ts'

export const sealCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('seal')
    .description('verifies the ledger and keeps a snapshot of all derived rows, at which later replays begin')
    .action(
      running((context) => {
        const writer = { url: context.serviceUrl, env: context.env, remark: context.terminal.remark }
        return withLedger(writer, (executor) => run(context, executor))
      }),
    )

async function run({ env, serviceUrl, terminal, signal }: CommandContext, executor: Executor): Promise<number> {
  const db = queryBuilder(openPool(serviceUrl, { max: 1, application_name: 'audit' }))
  await using closing = new AsyncDisposableStack()
  closing.defer(() => db.destroy())
  const signer = await requireSigner(db, env)
  const jobs = closing.use(new Jobs(serviceUrl, silent))
  const startedBy = localStaffName()
  const options = { sealsFolder: readSealsFolder(env), signer, piiKey: findKey('pii', env) }
  const job = await jobs.start(
    { kind: 'seal', subject: '', exclusive: ONE_VERIFICATION, startedBy, of: 0 },
    async (_job, progress, stop) => {
      const { verification, sealed } = await makeSeal(serviceUrl, { ...options, progress, signal: stop })
      const seal = sealed && (await runVerb(executor, recordSeal, sealed, startedBy))
      const summary = seal === null ? 'Nothing was sealed.' : `Sealed at position ${seal.position}.`
      return { result: { verification, summary }, summary }
    },
    { signal, progress: terminal.progress },
  )
  if (job === null) throw new Error('A verification is running, or another seal is being made.')
  const { verification, summary } = await job.ended
  for (const line of formatReport(verification, terminal.elapsedSeconds())) terminal.line(line)
  terminal.line(summary)
  return verification.findings.length
}
