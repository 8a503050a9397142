import type { Checkpoint } from '../../../schema/finance.ts'
import { readSealsFolder } from '../../config/environment.ts'
import { readInputFile } from '../../config/files.ts'
import { silent } from '../../db/log.ts'
import { findKey, findSigner, readCheckpoint } from '../checkpoint.ts'
import { Jobs } from '../jobs/jobs.ts'
import { formatFinding, MAX_FINDINGS } from '../verify/finding.ts'
import { verificationResult } from '../verify/verifications.ts'
import { type Verification, type VerifyTarget, verify } from '../verify/verify.ts'
import { localStaffName } from '../with-ledger.ts'
import { type CommandContext, JSON_FLAG, parsePositionFlag, type RegisterCommand } from './command.ts'
import { formatCount } from './terminal.ts'

interface Flags {
  readonly asOf?: number
  readonly checkpoint?: string
  readonly publicKey?: string
  readonly full?: true
  readonly json?: true
}

export const verifyCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('verify')
    .description('replays the ledger and compares it with itself and with every table')
    .option('--as-of <position>', 'the last position to check', parsePositionFlag)
    .option('--checkpoint <file>', 'output of `audit checkpoint`: checks that history up to it is unchanged')
    .option('--public-key <key>', 'key of checkpoints, PEM or base64 (default: of CHECKPOINT_KEY or DATA_DIR)')
    .option('--full', 'begins at position 1, not at the newest seal, and checks all seals')
    .option(...JSON_FLAG)
    .action(running(run))

async function run(audit: CommandContext, flags: Flags): Promise<number> {
  const { env, terminal } = audit
  const { asOf, json } = flags
  if (flags.publicKey !== undefined && flags.checkpoint === undefined)
    throw new Error('--public-key needs --checkpoint.')
  const checkpoint = flags.checkpoint === undefined ? null : readCheckpointFile(flags.checkpoint, flags, env)
  const full = flags.full ?? false
  const target = {
    asOf: asOf ?? null,
    checkpoint,
    piiKey: findKey('pii', env),
    sealsFolder: readSealsFolder(env),
    full,
  }
  const verification = await (full && asOf === undefined ? verifyAsJob : verifyAlone)(audit, target)
  if (json) terminal.line(JSON.stringify(verification))
  else for (const line of formatReport(verification, terminal.elapsedSeconds())) terminal.line(line)
  return verification.findings.length
}

const verifyAlone = async ({ reportUrl, terminal, signal }: CommandContext, target: VerifyTarget) =>
  verify(await reportUrl(), { ...target, progress: terminal.progress, signal })

/** With a row, as the console shows how long ago the whole ledger was verified. */
async function verifyAsJob(
  { reportUrl, serviceUrl, terminal, signal }: CommandContext,
  target: VerifyTarget,
): Promise<Verification> {
  await using jobs = new Jobs(serviceUrl, silent)
  const url = await reportUrl()
  const { ended } = await jobs.start(
    { kind: 'streamed-verification', subject: '', startedBy: localStaffName(), of: 0 },
    async (_job, progress, stop) => verificationResult(await verify(url, { ...target, progress, signal: stop })),
    { signal, progress: terminal.progress },
  )
  return await ended
}

/** Throws when there is no such file, and when it holds no checkpoint or one that another key signed. */
export function readCheckpointFile(
  file: string,
  { publicKey }: Pick<Flags, 'publicKey'>,
  env: CommandContext['env'],
): Checkpoint {
  const text = readInputFile('--checkpoint', file)
  const key = publicKey ?? findSigner(env, undefined)?.publicKey
  // The key in the file proves nothing: a forger would put his own there.
  if (key === undefined) throw new Error('There is no key to check the checkpoint with: give --public-key.')
  try {
    return readCheckpoint(text, key)
  } catch (error) {
    throw new Error(`--checkpoint ${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

export function formatReport(
  { position, events, findings, seal, notices = [] }: Verification,
  seconds: number,
): string[] {
  const checked = `${formatCount(events)} events up to position ${position} in ${seconds.toFixed(1)} s`
  const number =
    findings.length === MAX_FINDINGS ? `the first ${MAX_FINDINGS} findings` : `findings: ${findings.length}`
  return [
    ...notices.map((notice) => `notice: ${notice}`),
    ...findings.map(formatFinding),
    ...(seal === undefined ? [] : [`from seal at ${seal}; events before it not read`]),
    `${findings.length === 0 ? 'clean:' : `${number},`} ${checked}`,
  ]
}
