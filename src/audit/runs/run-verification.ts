import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Checkpoint } from '../../../schema/finance.ts'
import type { Log } from '../../db/log.ts'
import type { Tables } from '../../db/tables.ts'
import type { Progress } from '../ledger-scan.ts'
import { auditWorker } from '../verify/audit-worker.ts'
import type { Verification } from '../verify/verify.ts'
import { endRun, recordProgress, requestStop } from './run-rows.ts'

/** How often a run writes how far it is, and looks whether it is to stop. */
const HEARTBEAT_MS = 1_000
/** How often the end of a run is stored before it is given up, and the pause in between. */
const END_ATTEMPTS = 5
const END_PAUSE_MS = 1_000

export interface VerificationWork {
  /** Of its row, which `insertRun` added. */
  readonly id: number
  /** The database to verify. */
  readonly url: string
  readonly checkpoint: Checkpoint | null
  /** Decrypts the records of the vault. */
  readonly piiKey: string | null
  /** Events to read. */
  readonly total: number
  /** Ends the run, which then has failed, unless somebody asked for its end: in the table, or by `StoppedBy`. */
  readonly signal: AbortSignal
  readonly log: Log
  readonly progress?: (progress: Progress) => void
  readonly heartbeatMs?: number | undefined
}

/** The reason of a signal by which a member of staff stops a run. */
export class StoppedBy extends Error {
  override readonly name = 'StoppedBy'
  readonly actor: string

  constructor(actor: string) {
    super('it was stopped')
    this.actor = actor
  }
}

/** Verifies the ledger; its row says how far that is, and what came of it. Rejects when it did not reach its end. */
export async function runVerification(db: Kysely<Tables>, work: VerificationWork): Promise<Verification> {
  const { id, url, checkpoint, piiKey, total, signal, log, progress: onProgress, heartbeatMs = HEARTBEAT_MS } = work
  let progress: Progress = { events: 0, of: total }
  const stop = new AbortController()
  const ended = AbortSignal.any([signal, stop.signal])
  const beat = async (): Promise<void> => {
    const { isWanted } = await recordProgress(db, id, progress)
    if (!isWanted) stop.abort(new Error('it was stopped'))
  }
  const heartbeat = setInterval(() => {
    // The next one is a second later; without any, the run is taken for lost.
    beat().catch((err: unknown) => log.warn({ err }, 'the progress of a verification was not stored'))
  }, heartbeatMs)
  const report = (latest: Progress): void => {
    progress = latest
    onProgress?.(latest)
  }
  let verification: Verification | undefined
  try {
    verification = await auditWorker.verify(url, { asOf: null, checkpoint, piiKey }, ended, report)
  } catch (error) {
    if (!ended.aborted) log.warn({ err: error }, 'a verification failed')
    const { reason } = signal
    if (reason instanceof StoppedBy) await requestStop(db, id, reason.actor).catch(() => {})
    await beat().catch(() => {})
    const outcome = stop.signal.aborted ? 'stopped' : 'failed'
    await endRun(db, id, outcome, progress, null).catch((err: unknown) =>
      log.warn({ err }, 'the end of a verification was not stored'),
    )
    clearInterval(heartbeat)
    throw error
  }
  // What was found is not lost because the database could not be reached for a moment; the run goes on until then.
  const outcome = verification.findings.length === 0 ? 'clean' : 'findings'
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await endRun(db, id, outcome, progress, verification)
        return verification
      } catch (err) {
        if (attempt === END_ATTEMPTS) throw err
        log.warn({ err }, 'the end of a verification was not stored; retrying')
        await sleep(END_PAUSE_MS)
      }
    }
  } finally {
    clearInterval(heartbeat)
  }
}
