import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { ClientBase } from 'pg'
import { eventTypes } from '../../schema/events.ts'
import type { Checkpoint } from '../../schema/finance.ts'
import { errorCode } from '../config/error-code.ts'
import { connect } from '../db/connect.ts'
import { DamagedLastSeen, type LastSeen, readLastSeen, writeLastSeen } from '../db/last-seen.ts'
import { microsOf } from '../db/queries/expressions.ts'
import { mayBeAcknowledged } from '../features/closings/finding.ts'
import { WriterLock } from '../forwarding/writer-lock.ts'
import { isoMicros } from '../ledger/rules/time.ts'
import {
  compareWithSeen,
  isElsewhere,
  type LedgerEnd,
  queryOf,
  readLedgerEnd,
  saveHome,
  seenAt,
} from '../ledger/storage/lost-commits.ts'
import { type Manifest, parseManifest } from './closings/files.ts'
import type { Terminal } from './commands/terminal.ts'
import { formatReport } from './commands/verify.ts'
import { formatAmount } from './format.ts'
import { type Check, idOfFinding, MAX_FINDINGS } from './verify/finding.ts'
import { verify } from './verify/verify.ts'
import { beginIncarnation, localStaffName, lossMessage, recordLoss } from './with-ledger.ts'

interface AfterRestore {
  /** The connection of the service's own role. */
  readonly url: string
  /** In DATA_DIR: what an instance has seen last, and the folder of closings. */
  readonly seenFile: string
  readonly closings: string
  readonly checkpoint: Checkpoint | null
  readonly terminal: Terminal
  readonly signal: AbortSignal
}

/** An event that is known to have been committed. */
interface Known {
  readonly position: number
  readonly hash: string
  /** What knows it. */
  readonly source: string
}

/** Findings that the ledger served with before: as the hashes are right, no restore has made them, and none removes them. */
const formerChecks: ReadonlySet<Check> = new Set<Check>(['draw', 'rules', 'approval', 'vault', 'lost_by_restore'])

const REASON = 'the ledger was restored'

/**
 * Begins an incarnation on a ledger that went back: verifies it up to its end, prints what has to be done again, and records
 * `ledger-restored`. False when the ledger may not serve, and nothing was recorded. Throws while the service runs.
 */
export async function afterRestore(parts: AfterRestore): Promise<boolean> {
  await using closing = new AsyncDisposableStack()
  const lock = await WriterLock.connect(parts.url)
  closing.defer(() => lock.close())
  const client = await connect(parts.url, 'after restore')
  closing.defer(() => client.end())
  const query = queryOf(client)
  if (!(await lock.tryAcquire()))
    throw new Error('The service runs, or the database is a standby: stop or promote it first.')
  const kept = await readLastSeen(parts.seenFile).catch((error: unknown) => {
    if (error instanceof DamagedLastSeen) return null
    throw error
  })
  const end = await readLedgerEnd(query, kept?.position ?? null)
  const seen = kept !== null && isElsewhere(end, kept) ? null : kept
  const found = compareWithSeen(end, seen, false)
  if (found.is === 'another') {
    parts.terminal.line(lossMessage(end, seen, found, parts.seenFile))
    return false
  }
  if (end.incarnation === null) {
    parts.terminal.line('The ledger has no event: the service begins it.')
    return true
  }
  if (!(await isSound(parts, client, end))) return false

  const known = await printLoss(parts, client, end, found.is === 'restored' ? null : seen)
  const reason = 'reason' in found ? found.reason : REASON
  const last_known = known === undefined ? null : { position: known.position, hash: known.hash }
  const lost = end.lost ?? (await recordLoss(client, end, last_known, reason))
  if (lost === null) throw new Error('An instance has begun an incarnation meanwhile.')
  await beginIncarnation(parts.url, localStaffName(), { incarnation: lost.incarnation, reason, last_known })
  await saveHome(query)
  const now = seenAt(await readLedgerEnd(query, null))
  if (now === null) throw new Error('the ledger has no event')
  // Without it the next start takes what it finds: the ledger has the incarnation, and where it lives.
  await writeLastSeen(parts.seenFile, now).catch((error: unknown) =>
    parts.terminal.remark(`${parts.seenFile} was not written: ${String(error)}`),
  )
  parts.terminal.line(
    `recorded at position ${now.position}: the incarnation ${now.incarnation} has begun, the service may start`,
  )
  return true
}

/** Verifies the ledger, and prints what was found. A checkpoint beyond its end says nothing of what is there. */
async function isSound(
  { url, checkpoint, terminal, signal }: AfterRestore,
  client: ClientBase,
  end: LedgerEnd,
): Promise<boolean> {
  const held = checkpoint !== null && checkpoint.position <= end.position ? checkpoint : null
  const { progress } = terminal
  const verification = await verify(url, { asOf: null, checkpoint: held, progress, signal })
  for (const line of formatReport(verification, terminal.elapsedSeconds())) terminal.line(line)
  const acknowledged = await acknowledgedOn(client)
  const standing = verification.findings.filter(
    (finding) => !(mayBeAcknowledged('verify', finding.check) && acknowledged.has(idOfFinding(finding))),
  )
  // A full report ends early: what comes after it was not verified.
  if (standing.length < MAX_FINDINGS && standing.every(({ check }) => formerChecks.has(check))) return true
  terminal.line(
    'nothing was recorded, and the service must not start: restore another backup, or rebuild tables that differ',
  )
  return false
}

/** The findings that staff acknowledged. That the table is the ledger's is verified: a difference is never acknowledged. */
async function acknowledgedOn(client: ClientBase): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ finding: string }>('select finding from finding_acknowledgements')
  return new Set(rows.map(({ finding }) => finding))
}

/** Prints what is known to be lost and what has to be done again. Resolves to the last event that is known. */
async function printLoss(
  { closings, checkpoint, terminal }: AfterRestore,
  client: ClientBase,
  end: LedgerEnd,
  seen: LastSeen | null,
): Promise<Known | undefined> {
  const exports = findLostExports(closings, end.position)
  const known: Known[] = [
    ...(seen === null ? [] : [{ ...seen, source: 'last-seen' }]),
    ...(end.lost === null ? [] : knownOf(end.lost)),
    ...(checkpoint === null ? [] : [{ ...checkpoint, source: `the checkpoint of ${checkpoint.at}` }]),
    ...exports.map(({ folder, manifest }) => ({ ...manifest.checkpoint, source: folder })),
  ]
  const last = known.toSorted((a, b) => b.position - a.position)[0]
  const since = await timeOfEnd(client)
  terminal.line(
    last === undefined || last.position <= end.position
      ? `the ledger ends at position ${end.position}, of ${since}; how much is lost is not known here`
      : `the ledger ends at position ${end.position}, of ${since}; positions up to ${last.position} at least are lost, by ${last.source}`,
  )
  const lost = (await Promise.all(exports.map((one) => readLostEvents(one, end.position)))).flat()
  for (const line of await whatToDo(client, since, lost)) terminal.line(line)
  return last
}

const knownOf = ({ position, hash }: NonNullable<LedgerEnd['lost']>): readonly Known[] =>
  position === null || hash === null ? [] : [{ position, hash, source: 'an instance that noticed it' }]

/** The time of the last event. */
async function timeOfEnd(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ at: string }>(
    `select (${microsOf('at')})::text as at from ledger_events order by position desc limit 1`,
  )
  return isoMicros(Number(rows[0]?.at))
}

interface OpenRequest {
  readonly withdrawal_id: string
  readonly status: string
  readonly user_id: string
  readonly wallet: string
  readonly amount: string
  /** The sum of all open requests. */
  readonly total: string
}

/** Open requests that are listed. */
const MAX_OPEN = 100

/** Sections of what has to be done again: by what is left on the ledger, and by lost events that something else has. */
export async function whatToDo(
  client: Pick<ClientBase, 'query'>,
  since: string,
  lost: readonly LostEvent[],
): Promise<readonly string[]> {
  const { rows } = await client.query<OpenRequest>({
    text: `select withdrawal_id, status, user_id, wallet, amount, count(*) over () as total from withdrawals
           where status in ('pending', 'approved') order by withdrawal_id limit ${MAX_OPEN}`,
    types: { getTypeParser: () => (text: string) => text },
  })
  const open = rows.map(
    ({ withdrawal_id, status, user_id, wallet, amount }) =>
      `request ${withdrawal_id} of user ${user_id}, ${formatAmount(wallet, BigInt(amount))} ${wallet}, is ${status}`,
  )
  const more = Number(rows[0]?.total ?? 0) - open.length
  if (more > 0) open.push(`and ${more} more: GET /admin/v1/withdrawals`)
  return [
    ...section(
      `withdrawals that were made or decided after ${since}: make and decide them again`,
      lost.flatMap(withdrawal),
    ),
    ...section('withdrawals that are open: ask whether they were decided and paid since', open),
    ...section(`people who were erased after ${since}: erase them again`, lost.flatMap(erasure)),
    ...section(
      `sessions that were revoked after ${since}: their tokens are valid, revoke them again`,
      lost.flatMap(revocation),
    ),
  ]
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [`${title}; none is known here`] : [title, ...new Set(lines.map((line) => `  ${line}`))]

function withdrawal({ type, position, at, actor, data }: LostEvent): string[] {
  if (type === 'withdrawal-requested') {
    const amount = `${formatAmount(data.wallet, BigInt(data.amount))} ${data.wallet}`
    return [`request ${position} of user ${data.user_id} to ${data.target_id}, ${amount}, made at ${at}`]
  }
  if (type !== 'withdrawal-status-changed') return []
  return [`request ${data.withdrawal_id} of user ${data.user_id}: ${data.to} by ${actor} at ${at}`]
}

const erasure = ({ type, data }: LostEvent): string[] =>
  type === 'user-forgotten' ? [`npm run forget -- --user ${data.user_id}`] : []

function revocation({ type, data }: LostEvent): string[] {
  if (type === 'sessions-revoked') return [`POST /admin/v1/users/${data.user_id}/revoke-sessions`]
  return type === 'staff-sessions-revoked'
    ? [`POST /admin/v1/staff/${encodeURIComponent(data.sub)}/revoke-sessions`]
    : []
}

const eventOf = <T extends string, Data extends TSchema>(type: T, { data }: { readonly data: Data }) =>
  Type.Object({ position: Type.Integer(), type: Type.Literal(type), at: Type.String(), actor: Type.String(), data })
const LostEvent = Type.Union([
  eventOf('withdrawal-requested', eventTypes['withdrawal-requested']),
  eventOf('withdrawal-status-changed', eventTypes['withdrawal-status-changed']),
  eventOf('user-forgotten', eventTypes['user-forgotten']),
  eventOf('sessions-revoked', eventTypes['sessions-revoked']),
  eventOf('staff-sessions-revoked', eventTypes['staff-sessions-revoked']),
])
const lostEvent = TypeCompiler.Compile(LostEvent)

/** Something that has to be done again, of which the ledger knows nothing any more. */
type LostEvent = Static<typeof LostEvent>

/** The export of a month that covers positions beyond the end of the ledger. */
interface LostExport {
  readonly folder: string
  readonly manifest: Manifest
}

/** The exports in the folder of closings that cover what comes after a position. */
const findLostExports = (closings: string, position: number): readonly LostExport[] =>
  foldersIn(closings).flatMap((folder) => {
    const manifest = readManifest(folder)
    return manifest !== null && manifest.to > position ? [{ folder, manifest }] : []
  })

/** What an export has after a position, in order, as far as it has to be done again. */
async function readLostEvents({ folder }: LostExport, position: number): Promise<readonly LostEvent[]> {
  const found: LostEvent[] = []
  for await (const line of createInterface({ input: createReadStream(join(folder, 'events.jsonl')) })) {
    // Most events of a month are still there.
    if (Number(/^\{"position":(\d+)/.exec(line)?.[1] ?? 0) <= position) continue
    const event: unknown = JSON.parse(line)
    if (lostEvent.Check(event)) found.push(event)
  }
  return found
}

function foldersIn(closings: string): readonly string[] {
  try {
    const entries = readdirSync(closings, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() ? [join(closings, entry.name)] : [])).toSorted()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Null where there is none: an export that did not end has no manifest yet. */
function readManifest(folder: string): Manifest | null {
  try {
    return parseManifest(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new Error(`${folder}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
