import { existsSync } from 'node:fs'
import type { Checkpoint, VerificationRun } from '../../../schema/finance.ts'
import { headOf } from '../../db/head.ts'
import type { Services } from '../../features/services.ts'
import type { JobRow, Progress } from '../jobs/job-rows.ts'
import type { Jobs, Outer, RunningJob, Work } from '../jobs/jobs.ts'
import { threads } from '../jobs/threads.ts'
import { removeUnfinished } from '../seals/snapshot-files.ts'
import { formatFindingCount } from './finding.ts'
import type { ScanOptions } from './ledger-scan.ts'
import { type Verification, type VerifyTarget, verify } from './verify.ts'

/** Verifications in the background, and seals, run one at a time on all instances and command lines together. */
export const ONE_VERIFICATION = 'verification'

const VERIFICATION = { kind: 'verification', subject: '', exclusive: ONE_VERIFICATION } as const

interface Asked {
  readonly checkpoint: Checkpoint | null
}

type Kept = Pick<Verification, 'position' | 'findings' | 'seal' | 'notices'>

/** The thread calls it by its name. @public */
export const verifyTask = (
  { url, ...target }: VerifyTarget & { readonly url: string },
  signal: AbortSignal,
  progress: (progress: Progress) => void,
): Promise<Verification> => verify(url, { ...target, signal, progress })

/** Verifies the ledger in a thread of its own: writing a large table to a file takes longer than its job may be silent. */
export async function verifyThere(
  url: string,
  { progress, signal, ...target }: VerifyTarget & ScanOptions,
): Promise<Verification> {
  try {
    return await threads.run(import.meta.url, verifyTask, { url, ...target }, signal, progress)
  } catch (error) {
    const { sealsFolder, snapshotAt } = target
    // A thread that was terminated removed nothing.
    if (sealsFolder !== undefined && snapshotAt !== undefined && existsSync(sealsFolder))
      await removeUnfinished(sealsFolder)
    throw error
  }
}

/** As a job. */
export const verifyInThread =
  (url: string, target: VerifyTarget): Work<Verification> =>
  async (_job, progress, signal) => {
    const result = await verifyThere(url, { ...target, progress, signal })
    progress({ events: result.events, of: result.events })
    return verificationResult(result)
  }

/** What the job of a verification came to. */
export function verificationResult(result: Verification) {
  const { events: _events, snapshot: _snapshot, draws: _draws, ...kept } = result
  return { result, summary: `${formatVerification(result)}.`, kept: kept satisfies Kept }
}

/** `Clean: 51 events up to position 51` */
export function formatVerification({ events, position, findings, seal }: Verification): string {
  const from = seal === undefined ? '' : ` from the seal at ${seal}`
  const checked = `${events.toLocaleString('en')} events${from} up to position ${position}`
  return findings.length === 0 ? `Clean: ${checked}` : `${formatFindingCount(findings.length)} in ${checked}`
}

interface Parts extends Pick<Services, 'chooseReportDatabase'> {
  readonly jobs: Jobs
  /** Decrypts the records of the vault. */
  readonly piiKey: string | null
}

interface Start extends Asked {
  readonly startedBy: string
  readonly key: string | null
  /** Default: begins at position 1. */
  readonly seals?: Pick<VerifyTarget, 'sealsFolder' | 'full' | 'snapshotAt'>
}

/** Null while another one runs, and when one was started under the same key before. */
export async function runVerification(
  { jobs, chooseReportDatabase, piiKey }: Parts,
  { startedBy, key, checkpoint, seals }: Start,
  outer?: Outer,
): Promise<RunningJob<Verification> | null> {
  const { db, url } = await chooseReportDatabase()
  const input: Asked = { checkpoint }
  const work = verifyInThread(url, { asOf: null, checkpoint, piiKey, ...seals })
  return jobs.start({ ...VERIFICATION, startedBy, key, of: await headOf(db), input }, work, outer)
}

/** Starts a verification; null while another one runs. Answers the one that was started under the same key before. */
export async function startVerification(parts: Parts, start: Start): Promise<VerificationRun | null> {
  const { jobs } = parts
  const { startedBy, key } = start
  const running = await runVerification(parts, start)
  if (running !== null && running.id !== null) return findVerification(jobs, running.id)
  const earlier = key === null ? null : await jobs.find({ kind: 'verification', startedUnder: { startedBy, key } })
  return earlier && presentVerification(earlier)
}

/** Asks for the end of a verification. Answers it, though it may end a moment later; null when there is none. */
export async function stopVerification(jobs: Jobs, id: number, by: string): Promise<VerificationRun | null> {
  if ((await findVerification(jobs, id)) === null) return null
  await jobs.stop(id, by)
  return findVerification(jobs, id)
}

export async function findVerification(jobs: Jobs, id: number): Promise<VerificationRun | null> {
  const row = await jobs.find({ kind: 'verification', id })
  return row && presentVerification(row)
}

/** The newest verifications, with ids below `before`. */
export async function listVerifications(
  jobs: Jobs,
  limit: number,
  before: number | null = null,
): Promise<readonly VerificationRun[]> {
  return (await jobs.list({ kind: 'verification', before, limit })).map(presentVerification)
}

/** When the newest one began that read the whole ledger, from a command line and a stream, too; null for none. */
export const lastFullVerification = async (jobs: Jobs): Promise<string | null> =>
  (await jobs.find({ isFullVerification: true }))?.job.started_at ?? null

/** The newest one, which is the one that runs, if one runs; null before the first. */
export const newestVerification = async (jobs: Jobs): Promise<VerificationRun | null> =>
  (await listVerifications(jobs, 1))[0] ?? null

function presentVerification({ job, input, result }: JobRow): VerificationRun {
  const { kind: _kind, subject: _subject, state, result: _summary, ...shared } = job
  const { checkpoint }: Asked = JSON.parse(input)
  const kept: Kept | null = result === null ? null : JSON.parse(result)
  const findings = [...(kept?.findings ?? [])]
  return {
    ...shared,
    outcome: state === 'done' ? (findings.length === 0 ? 'clean' : 'findings') : state,
    up_to: kept?.position ?? null,
    seal: kept?.seal ?? null,
    notices: [...(kept?.notices ?? [])],
    checkpoint,
    findings,
  }
}
