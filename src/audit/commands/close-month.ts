import { InvalidArgumentError } from 'commander'
import { readLedgerSchema, readSealsFolder } from '../../config/environment.ts'
import { silent } from '../../db/log.ts'
import { openPool } from '../../db/pool.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import { refusalResponseOf } from '../../domain.ts'
import { closingSteps, isMonth, VERIFICATION_RUNNING } from '../../features/closings/closing.ts'
import { type RecordClosing, recordClosing } from '../../features/closings/record-closing.ts'
import type { Executor } from '../../ledger/executor/executor.ts'
import { runVerb, VerbRefused } from '../../ledger/executor/run-verb.ts'
import { findKey, requireSigner } from '../checkpoint.ts'
import { readClosingRequest } from '../closings/closing-request.ts'
import { closingsFolder, monthFolder } from '../closings/files.ts'
import { ClosingRefused, type MonthBooks, readMonthBooks } from '../closings/month-books.ts'
import type { StepState } from '../closings/step.ts'
import { startSteps } from '../closings/steps-job.ts'
import { dataDirOf } from '../database.ts'
import { Jobs } from '../jobs/jobs.ts'
import { newestVerification } from '../verify/verifications.ts'
import { localStaffName, withLedger } from '../with-ledger.ts'
import type { CommandContext, RegisterCommand } from './command.ts'

export const closeMonthCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('close-month')
    .description('runs all steps of closing a month, keeps their files in DATA_DIR/closings, and records the closing')
    .argument('<month>', 'YYYY-MM', parseMonth)
    .action((month: string, flags: object) =>
      running((context) => {
        const writer = { url: context.serviceUrl, env: context.env, remark: context.terminal.remark }
        return withLedger(writer, (executor) => run(context, month, executor))
      })(flags),
    )

function parseMonth(text: string): string {
  if (!isMonth(text)) throw new InvalidArgumentError('Expected a month, such as 2026-10.')
  return text
}

/** Answers how many steps failed; the month is recorded only when none did. */
async function run(
  { env, serviceUrl: url, terminal, signal }: CommandContext,
  month: string,
  executor: Executor,
): Promise<number> {
  const db = queryBuilder(openPool(url, { max: 2, application_name: 'audit' }))
  await using jobs = new Jobs(url, silent)
  try {
    const signer = await requireSigner(db, env)
    const newest = await newestVerification(jobs)
    if (newest?.outcome === 'running') throw new ClosingRefused(VERIFICATION_RUNNING)
    const folder = closingsFolder(dataDirOf(env), readLedgerSchema(env))
    const startedBy = localStaffName()
    const finish = async ({ first, last }: MonthBooks, failed: number): Promise<void> => {
      if (failed > 0) return terminal.line(`not recorded: ${failed} of ${closingSteps.length} steps failed`)
      // Read again: the ledger may have been restored meanwhile.
      const books = await readMonthBooks(db, month)
      const request = await readClosingRequest(db, monthFolder(folder, month), books, signer)
      const position = await record(executor, request, startedBy)
      const files = monthFolder(folder, month)
      terminal.line(`closed ${month}: positions ${first} to ${last}, event ${position}, files in ${files}`)
    }
    const onStep = (state: StepState): void => {
      const summary = state.state === 'waiting' ? '' : (state.result?.summary ?? state.error ?? '')
      terminal.line(`${state.step}: ${state.state === 'done' ? '' : 'FAILED: '}${summary}`)
      for (const line of findingLines(state)) terminal.line(line)
    }
    const parts = {
      jobs,
      url,
      db,
      signer,
      piiKey: findKey('pii', env),
      closingsFolder: folder,
      sealsFolder: readSealsFolder(env),
    }
    const asked = { month, steps: closingSteps, startedBy }
    const { progress } = terminal
    const { ended } = await startSteps(parts, asked, { progress, onStep, finish, signal })
    return await ended
  } finally {
    await db.destroy()
  }
}

/** What can be acknowledged, and what was. */
const findingLines = (state: StepState): readonly string[] =>
  state.state === 'waiting'
    ? []
    : state.findings.map(({ finding, kind, subject, message, acknowledged }) => {
        const by = acknowledged === null ? '' : `, acknowledged by ${acknowledged.acknowledged_by}`
        return `  finding ${finding}${by}: ${kind} ${subject}: ${message}`
      })

/** Records the closing next to the instances of the service; answers the position of its event. */
async function record(executor: Executor, request: RecordClosing, actor: string): Promise<number> {
  try {
    return (await runVerb(executor, recordClosing, request, actor)).closing_id
  } catch (error) {
    throw error instanceof VerbRefused ? new Error(refusalResponseOf(error.refusal).message.en) : error
  }
}
