import { InvalidArgumentError } from 'commander'
import { readLedgerSchema } from '../../../config/ledger-schema.ts'
import { openPool } from '../../../db/pool.ts'
import { queryBuilder } from '../../../db/queries/query-builder.ts'
import { refusalResponseOf } from '../../../domain.ts'
import { closingSteps, STEPS_RUNNING, VERIFICATION_RUNNING } from '../../../features/closings/closing-steps.ts'
import { isMonth } from '../../../features/closings/month.ts'
import { type RecordClosing, recordClosing } from '../../../features/closings/record-closing.ts'
import type { Executor } from '../../../ledger/executor/executor.ts'
import { runVerb, VerbRefused } from '../../../ledger/executor/run-verb.ts'
import { findKey, requireSigner } from '../../checkpoint/checkpoint-key.ts'
import { ClosingRefused } from '../../closings/closing-refused.ts'
import { readClosingRequest } from '../../closings/closing-request.ts'
import { closingsFolder, monthFolder } from '../../closings/folder.ts'
import { readMonthBooks } from '../../closings/month-books.ts'
import { MonthLock } from '../../closings/month-lock.ts'
import { beginClosingStep, type RunningStep } from '../../closings/run-closing-step.ts'
import type { StepState } from '../../closings/step-state.ts'
import { dataDirOf } from '../../database.ts'
import { readRuns } from '../../runs/run-rows.ts'
import { StoppedBy } from '../../runs/run-verification.ts'
import { localStaffName } from '../../with-executor.ts'
import { withLedger } from '../../with-ledger.ts'
import type { CommandContext, RegisterCommand } from '../command.ts'

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
  { env, serviceUrl, terminal, signal }: CommandContext,
  month: string,
  executor: Executor,
): Promise<number> {
  const db = queryBuilder(openPool(serviceUrl, { max: 2, application_name: 'audit' }))
  let lock: MonthLock | null = null
  try {
    const signer = await requireSigner(db, env)
    // Held until the closing is recorded: no other step changes the files in between.
    lock = await MonthLock.forSteps(serviceUrl, month)
    if (lock === null) throw new ClosingRefused(STEPS_RUNNING)
    const books = await readMonthBooks(db, month)
    if (books.refusal !== null) throw new ClosingRefused(books.refusal.code)
    const [newest] = await readRuns(db, { limit: 1 })
    if (newest?.outcome === 'running') throw new ClosingRefused(VERIFICATION_RUNNING)
    const folder = monthFolder(closingsFolder(dataDirOf(env), readLedgerSchema(env)), month)
    const madeBy = localStaffName()
    const { progress } = terminal
    const log = console
    const stop = new AbortController()
    const ended = AbortSignal.any([signal, stop.signal])
    const onStop = (stoppedBy: string): void => stop.abort(new StoppedBy(stoppedBy))
    const keys = { signer, piiKey: findKey('pii', env) }
    const options = { url: serviceUrl, db, books, lock, folder, ...keys, madeBy, signal: ended, onStop, log, progress }
    let failed = 0
    let running: RunningStep | null = null
    for (const [i, step] of closingSteps.entries()) {
      ended.throwIfAborted()
      running = await beginClosingStep(step, options, closingSteps.slice(i + 1), running)
      const state = await running.ended
      if (state.state !== 'done') failed += 1
      const summary = state.state === 'waiting' ? '' : (state.result?.summary ?? state.error ?? '')
      terminal.line(`${step}: ${state.state === 'done' ? '' : 'FAILED: '}${summary}`)
      for (const line of findingLines(state)) terminal.line(line)
    }
    if (failed > 0) {
      terminal.line(`not recorded: ${failed} of ${closingSteps.length} steps failed`)
      return failed
    }
    // The end may have been asked for when the last step was about to end.
    ended.throwIfAborted()
    // Read again: the ledger may have been restored meanwhile.
    const request = await readClosingRequest(db, folder, await readMonthBooks(db, month), signer)
    const position = await record(executor, request, madeBy)
    terminal.line(`closed ${month}: positions ${books.first} to ${books.last}, event ${position}, files in ${folder}`)
    return 0
  } finally {
    await lock?.close()
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
