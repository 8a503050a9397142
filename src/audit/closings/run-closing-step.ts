import { type Kysely } from 'kysely'
import type { Checkpoint } from '../../../schema/finance.ts'
import { makeFolder } from '../../config/make-folder.ts'
import { headOf } from '../../db/head.ts'
import type { Log } from '../../db/log.ts'
import { micros } from '../../db/queries/micros.ts'
import type { Tables } from '../../db/tables.ts'
import { type ClosingStep, VERIFICATION_RUNNING } from '../../features/closings/books.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import type { Progress } from '../ledger-scan.ts'
import { rememberCheckpoint } from '../runs/made-checkpoints.ts'
import { insertRun } from '../runs/run-rows.ts'
import { runVerification } from '../runs/run-verification.ts'
import { auditWorker } from '../verify/audit-worker.ts'
import { ClosingRefused } from './closing-refused.ts'
import { writeHashed } from './hashed-file.ts'
import { signManifest } from './manifest.ts'
import type { MonthBooks } from './month-books.ts'
import type { MonthLock } from './month-lock.ts'
import { readStep, type StepState, type StoredState, tableOf, writeStep } from './step-state.ts'
import type { StepOutcome } from './step-task.ts'

export interface StepOptions {
  /** The database to read, and the same through Kysely. */
  readonly url: string
  readonly db: Kysely<Tables>
  /** Read while `lock` was held. */
  readonly books: MonthBooks
  /** That of the month. The step ends when it is lost. */
  readonly lock: Pick<MonthLock, 'lost'>
  /** The month's own folder; it is created. */
  readonly folder: string
  readonly signer: CheckpointSigner
  /** `staff:ann` */
  readonly madeBy: string
  /** Ends the step, which then has failed. */
  readonly signal: AbortSignal
  readonly log: Log
  readonly progress?: (progress: Progress) => void
}

/** How often a running step writes how far it is. */
const HEARTBEAT_MS = 1_000

/**
 * Runs a step of a month's closing and keeps its state, its result and its files in the folder; what reads many events
 * runs in the audit worker. Answers `failed` when it found something or did not reach its end. A state `running` that is
 * found is of a process that died, as the lock is held here. Throws `ClosingRefused` when the month is closed or cannot
 * be, and an Error when the lock was lost: whatever is in the folder then is another's.
 */
export async function runClosingStep(step: ClosingStep, given: StepOptions): Promise<StepState> {
  const { books, folder, madeBy, lock, progress: onProgress } = given
  if (books.refusal !== null) throw new ClosingRefused(books.refusal.code)
  const options = { ...given, signal: AbortSignal.any([given.signal, lock.lost]) }
  makeFolder(folder)
  const { first, last } = books
  let state: StoredState = {
    state: 'running',
    made_by: madeBy,
    started_at: now(),
    heard_at: now(),
    first,
    last,
    progress: null,
    result: null,
    files: [],
    error: null,
  }
  const save = (change: Partial<StoredState>): void => {
    lock.lost.throwIfAborted()
    state = { ...state, ...change, heard_at: now() }
    writeStep(folder, step, state)
  }
  save({})
  let latest: Progress | null = null
  const heartbeat = setInterval(() => {
    if (!lock.lost.aborted) save({ progress: latest })
  }, HEARTBEAT_MS)
  const progress = (made: Progress): void => {
    latest = made
    onProgress?.(made)
  }
  let outcome: StepOutcome | undefined
  let failure: unknown
  try {
    outcome = await work(step, options, progress)
  } catch (error) {
    failure = error
  } finally {
    clearInterval(heartbeat)
  }
  if (outcome === undefined) save({ state: 'failed', error: messageOf(failure, given.signal) })
  else
    save({
      state: outcome.passed ? 'done' : 'failed',
      progress: null,
      result: outcome.result,
      files: [...outcome.files],
    })
  return readStep(folder, step)
}

const messageOf = (error: unknown, signal: AbortSignal): string =>
  signal.aborted ? 'it was stopped' : error instanceof Error ? error.message : String(error)

const now = (): string => new Date().toISOString()

async function work(
  step: ClosingStep,
  options: StepOptions,
  progress: (progress: Progress) => void,
): Promise<StepOutcome> {
  const { url, books, folder, signal } = options
  if (step === 'verify') return verifyStep(options, progress)
  if (step === 'checkpoint') return checkpointStep(options)
  const { month, first, last } = books
  const outcome = await auditWorker.closingStep(step, { url, month, first, last, folder }, signal, progress)
  return step === 'export' ? withManifest(outcome, options) : outcome
}

/**
 * The whole ledger and its tables, against the checkpoint of the closing before. It is a verification as staff start it:
 * one at a time, listed among the others.
 */
async function verifyStep(
  { url, db, books, folder, madeBy, signal, log }: StepOptions,
  progress: (progress: Progress) => void,
): Promise<StepOutcome> {
  const checkpoint = books.previous?.checkpoint ?? null
  const total = await headOf(db)
  const id = await insertRun(db, { startedBy: madeBy, key: null, total, checkpoint })
  if (id === null) throw new ClosingRefused(VERIFICATION_RUNNING)
  const verification = await runVerification(db, { id, url, checkpoint, total, signal, log, progress })
  const { findings, events, position } = verification
  const file = await writeHashed(folder, 'verification.json', `${JSON.stringify({ ...verification, checkpoint })}\n`)
  const checked = `${events.toLocaleString('en')} events up to position ${position}`
  return {
    passed: findings.length === 0,
    result: tableOf(
      findings.length === 0 ? `Clean: ${checked}.` : `${findings.length} findings in ${checked}.`,
      ['check', 'position', 'table', 'id', 'message'],
      findings.map((one) => [
        one.check,
        one.position === null ? '' : String(one.position),
        one.table ?? '',
        one.id ?? '',
        one.message,
      ]),
    ),
    files: [file],
  }
}

/** A checkpoint of the month's last event, which the next closing begins from. */
async function checkpointStep(options: StepOptions): Promise<StepOutcome> {
  const { db, folder, madeBy, signal } = options
  const checkpoint = await signLast(options)
  signal.throwIfAborted()
  await rememberCheckpoint(db, checkpoint, madeBy)
  signal.throwIfAborted()
  const file = await writeHashed(folder, 'checkpoint.json', `${JSON.stringify(checkpoint, null, 2)}\n`)
  const { position, hash, at } = checkpoint
  return {
    passed: true,
    result: tableOf(`Signed position ${position}.`, ['position', 'hash', 'at'], [[String(position), hash, at]]),
    files: [file],
  }
}

async function withManifest(outcome: StepOutcome, options: StepOptions): Promise<StepOutcome> {
  const { books, folder, signer, madeBy, signal } = options
  const { month, first, last, first_at, last_at } = books
  const manifest = signManifest(
    {
      month,
      from: first,
      to: last,
      from_at: first_at,
      to_at: last_at,
      files: [...outcome.files],
      checkpoint: await signLast(options),
      made_by: madeBy,
      made_at: now(),
    },
    signer,
  )
  signal.throwIfAborted()
  const file = await writeHashed(folder, 'manifest.json', `${JSON.stringify(manifest, null, 2)}\n`)
  return { ...outcome, files: [...outcome.files, file] }
}

async function signLast({ db, books, signer }: StepOptions): Promise<Checkpoint> {
  const { hash, signed_at } = await db
    .selectFrom('ledger_events')
    .select('hash')
    .select(micros('clock_timestamp()').as('signed_at'))
    .where('position', '=', books.last)
    .executeTakeFirstOrThrow()
  return signer.sign({ position: books.last, hash, at: isoMicros(signed_at) })
}
