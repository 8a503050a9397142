import { tables } from '../../domain.ts'
import { walletAccount } from '../../features/agency/dollars.ts'
import { withdrawals } from '../../features/agency/withdrawals/withdrawal.ts'
import { closings } from '../../features/closings/closing.ts'
import { acknowledgements } from '../../features/closings/finding.ts'
import { INDEX_CURSOR } from '../../ledger/indexes/index-writer.ts'
import type { ReplayState } from '../../ledger/replay/replay.ts'
import { Snapshot } from '../../ledger/replay/snapshot.ts'
import { balances, currencyOf, holds } from '../../ledger/rules/account.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { Head } from '../../ledger/storage/event-hash.ts'
import type { RowTable } from '../../ledger/storage/row-table.ts'
import type { CheckpointHead } from '../checkpoint.ts'
import { checkSnapshot, type OpenedSeal, openFirstSeal, type UnusableSeals } from '../seals/open-seal.ts'
import { readSeals, type Sealed } from '../seals/read-seals.ts'
import { dropSnapshot, keepSnapshot, type WrittenSnapshot } from '../seals/snapshot-files.ts'
import { checkAcknowledgements, readAcknowledged } from './acknowledged-findings.ts'
import { checkCheckpoint } from './check-checkpoint.ts'
import { checkEventTypes } from './check-event-types.ts'
import { checkReplies, readOldestReply } from './check-replies.ts'
import { checkVault } from './check-vault.ts'
import { compareTable } from './compare-table.ts'
import type { DrawReport } from './draws/draw-counts.ts'
import { type Finding, Findings, idOfFinding, MAX_FINDINGS } from './finding.ts'
import { IndexChecks } from './indexes/index-checks.ts'
import type { LastEvent } from './integrity-checks.ts'
import { LedgerScan, type ScanOptions } from './ledger-scan.ts'

export interface Verification {
  /** The last event that was checked. */
  readonly position: number
  readonly events: number
  /** By position; empty when the books are sound. */
  readonly findings: readonly Finding[]
  /** The position of the seal that it began at: no event up to there was read. Left out where it began at 1. */
  readonly seal?: number
  /** Why it did not begin at a newer seal, in sentences. Left out where nothing is to be said. */
  readonly notices?: readonly string[]
  /** What was written for `snapshotAt`. Left out where anything was found that nobody acknowledged. */
  readonly snapshot?: WrittenSnapshot
  /** The draws up to `snapshotAt`, where that is a position. Left out where an event up to there has a finding. */
  readonly draws?: DrawReport
}

/** What is verified. */
export interface VerifyTarget {
  /** The last position to check, without the tables, which are newer. Null: the whole ledger and the tables. */
  readonly asOf: number | null
  /** A signed checkpoint: the ledger must have its hash at its position. */
  readonly checkpoint: CheckpointHead | null
  /** Decrypts the records of the vault; without it only missing ones are found. */
  readonly piiKey?: string | null
  /** The folder of snapshots. Left out: begins at position 1, as with `full`, and reads none. */
  readonly sealsFolder?: string
  /** Begins at position 1 and checks all seals, instead of beginning at the newest seal that has a snapshot. */
  readonly full?: boolean
  /** Writes a snapshot as of this position, or null: of the end. */
  readonly snapshotAt?: number | null
}

interface VerifyOptions extends ScanOptions, VerifyTarget {}

/** Fewer events than this are left to be read in the transaction that compares the tables. */
const MAX_FROZEN_EVENTS = 500

/**
 * Replays the ledger, from a seal or its first event on, and checks that positions have no gap, that every hash covers the
 * one before, that times do not decrease, that every event can be read, balances and breaks no rule, and every draw; then
 * that the head, the stored replies and every row of the tables match the events, and that the records of the vault can be
 * read. Throws when `asOf` is beyond the end.
 *
 * Only the last events, the head, the tables and the replies to these events are read in one snapshot of the database.
 */
export async function verify(url: string, options: VerifyOptions): Promise<Verification> {
  await using closing = new AsyncDisposableStack()
  const opening = [Snapshot.connect(url, options.signal), Snapshot.connect(url, options.signal)] as const
  closing.defer(async () => {
    for (const opened of await Promise.allSettled(opening))
      if (opened.status === 'fulfilled') await opened.value.close()
  })
  const [snapshot, rangeSnapshot] = await Promise.all(opening)
  const { asOf, piiKey = null } = options
  if (asOf !== null && options.checkpoint !== null && options.checkpoint.position > asOf) {
    throw new Error(`The checkpoint is of position ${options.checkpoint.position}, beyond --as-of ${asOf}.`)
  }
  let head = await snapshot.head()
  if (asOf !== null && asOf > head.position) throw new Error(`The ledger ends at position ${head.position}.`)
  const findings = new Findings(await readAcknowledged(snapshot))
  const seals = await readSeals(snapshot.query, asOf ?? head.position, asOf ?? head.position)
  // Disposed of when the files are open, as nobody would remove them if this thread were terminated.
  const unpacking = closing.use(new AsyncDisposableStack())
  const { seal, notices, findings: changed, intact } = await beginning(snapshot, options, seals, unpacking)
  for (const finding of changed) findings.add(finding)
  const scan = await LedgerScan.start(snapshot, head, findings, options, seal)
  closing.defer(() => scan.close())
  await unpacking.disposeAsync()
  const indexChecks = new IndexChecks(scan, scan.next - 1)
  // As of a position there are no tables to compare.
  if (asOf === null) scan.expectIndex()
  const oldestReply = await readOldestReply(rangeSnapshot)
  const checkRange = (from: number, upTo: number): Promise<readonly Finding[]> =>
    checkReplies(rangeSnapshot, from, upTo, oldestReply)
  const snapshots = new SnapshotWriter(scan, options, closing)
  const { snapshotAt } = options
  let draws: DrawReport | undefined
  for (const { position, sealed } of stopsOf(seals, snapshotAt).filter(({ position }) => position >= scan.next)) {
    await scan.scanPart(position, checkRange)
    if (position === snapshotAt)
      draws = { seal: seal?.last.position ?? null, events: scan.count, faults: [], ...scan.drawFrequencies }
    if (sealed === null) await snapshots.write(position)
    else await scan.proveSeal(sealed, intact.has(sealed) ? options.sealsFolder : undefined)
  }
  await scan.scanUpTo(asOf ?? head.position, checkRange)
  // Catches up with the service, so that the transaction that compares the tables is short.
  while (asOf === null && !findings.isFull) {
    await indexChecks.readSegments(snapshot, scan.next - 1)
    const { position } = await snapshot.head()
    if (position - scan.next < MAX_FROZEN_EVENTS) break
    await scan.scanUpTo(position, checkRange)
  }
  await snapshot.freeze()
  if (asOf === null && !findings.isFull) {
    head = await snapshot.head()
    const { next } = scan
    await scan.scanRest()
    for (const finding of await checkReplies(snapshot, next, Number.MAX_SAFE_INTEGER, oldestReply))
      findings.add(finding)
    if (snapshotAt === null) await snapshots.write(head.position)
  }
  const compared = asOf === null ? tables.filter(({ source }) => source === 'ledger') : []
  const compare = async (table: RowTable): Promise<readonly Finding[]> =>
    findings.isFull ? [] : compareTable(snapshot, table, scan.rows, scan.onPage)
  // The row verifier, which has the balances, works meanwhile: their table is compared last.
  const differences: Finding[] = []
  for (const table of compared) {
    if (table.projection !== balances && differences.length < MAX_FINDINGS) differences.push(...(await compare(table)))
  }
  await scan.drain()
  if (asOf === null && !findings.isFull && differences.length < MAX_FINDINGS)
    differences.push(
      ...(await checkEventTypes(snapshot, scan)),
      ...(await checkCursors(snapshot)),
      ...(await indexChecks.findings(snapshot)),
    )
  await scan.importBalances()
  for (const table of compared) if (table.projection === balances) differences.unshift(...(await compare(table)))
  if (!findings.isFull) {
    const { last, rows } = scan
    checkHead(last, asOf === null ? head : { ...head, position: asOf }, asOf === null, findings)
    checkCurrencyTotals(rows, findings)
    checkHolds(rows, findings)
    if (asOf === null) await checkVault(snapshot, rows, piiKey, findings, scan.onPage)
    await checkClosings(snapshot, rows, findings)
    await checkAcknowledgements(snapshot, rows, findings)
  }
  if (options.checkpoint !== null) {
    const hashes = await snapshot.hashesAt([options.checkpoint.position])
    checkCheckpoint(options.checkpoint, hashes, scan.last.position, scan.restores, findings)
  }
  for (const finding of differences) findings.add(finding)
  const { last, rows } = scan
  const isOpen = (finding: Finding): boolean => rows.get(acknowledgements, idOfFinding(finding)) === undefined
  const written = findings.sorted().some(isOpen) ? undefined : await snapshots.keep()
  const isSound = findings.sorted().every(({ position }) => position === null || position > (snapshotAt ?? 0))
  const { position, events } = findings.cutoff ?? { position: last.position, events: scan.count }
  return {
    position,
    events,
    findings: findings.sorted(),
    ...(seal !== null && { seal: seal.last.position }),
    ...(notices.length > 0 && { notices }),
    ...(written !== undefined && { snapshot: written }),
    ...(draws !== undefined && isSound && { draws }),
  }
}

/** Where the scan stops on its way, in order: at the seals, and where a snapshot is wanted that is none of a seal. */
function stopsOf(
  seals: readonly Sealed[],
  snapshotAt: number | null = null,
): readonly { readonly position: number; readonly sealed: Sealed | null }[] {
  const stops = seals.map((sealed) => ({ position: sealed.position, sealed }))
  const isSealed = snapshotAt === null || seals.some(({ position }) => position === snapshotAt)
  return [...stops, ...(isSealed ? [] : [{ position: snapshotAt, sealed: null }])].sort(
    (a, b) => a.position - b.position,
  )
}

/** Writes a snapshot on the way, which is kept where the verification finds nothing. */
class SnapshotWriter {
  readonly #scan: LedgerScan
  readonly #sealsFolder: string | undefined
  #written: WrittenSnapshot | undefined

  constructor(scan: LedgerScan, { sealsFolder }: VerifyTarget, closing: AsyncDisposableStack) {
    this.#scan = scan
    this.#sealsFolder = sealsFolder
    closing.defer(async () => {
      if (sealsFolder !== undefined && this.#written !== undefined) await dropSnapshot(sealsFolder, this.#written)
    })
  }

  /** As of the events that were read, if that is up to a position. */
  async write(position: number): Promise<void> {
    await this.#scan.drain()
    if (this.#sealsFolder === undefined || position === 0 || this.#scan.last.position !== position) return
    this.#written = await this.#scan.writeSnapshot(this.#sealsFolder)
  }

  async keep(): Promise<WrittenSnapshot | undefined> {
    if (this.#sealsFolder !== undefined && this.#written !== undefined)
      await keepSnapshot(this.#sealsFolder, this.#written)
    return this.#written
  }
}

interface Beginning extends UnusableSeals {
  readonly seal: OpenedSeal | null
  /** With `full`: the seals whose snapshots are here, which are read on the way. */
  readonly intact: ReadonlySet<Sealed>
}

/** The seal to begin at, and what is to be said of others. With `full` all snapshots are checked. */
async function beginning(
  snapshot: Snapshot,
  { sealsFolder, full = false, checkpoint }: VerifyTarget,
  seals: readonly Sealed[],
  closing: AsyncDisposableStack,
): Promise<Beginning> {
  const intact = new Set<Sealed>()
  if (sealsFolder === undefined) return { seal: null, notices: [], findings: [], intact }
  if (!full) {
    // Events after the checkpoint have to be read.
    const usable = seals.filter(({ position }) => checkpoint === null || position <= checkpoint.position)
    return { ...(await openFirstSeal(snapshot.query, sealsFolder, usable, closing)), intact }
  }
  const unusable: UnusableSeals = { notices: [], findings: [] }
  for (const sealed of seals)
    if ((await checkSnapshot(snapshot.query, sealsFolder, sealed, undefined, unusable)) !== undefined)
      intact.add(sealed)
  return { seal: null, ...unusable, intact }
}

/** The head has position and hash of the last event. Its time is that of the last batch, which may have no events. */
function checkHead(last: LastEvent, head: Head, isWholeLedger: boolean, findings: Findings): void {
  const addFinding = (position: number, message: string): void => findings.add({ check: 'head', position, message })
  if (last.position < head.position)
    addFinding(last.position + 1, `is missing; the ledger should end at ${head.position}`)
  else if (last.position > head.position)
    addFinding(head.position + 1, `is beyond the head, which is at ${head.position}`)
  else if (isWholeLedger && head.hash !== last.hash)
    addFinding(head.position, `the head has a different hash, ${head.hash}`)
  if (isWholeLedger && head.at < last.at)
    addFinding(last.position, `the head's time, ${isoMicros(head.at)}, is before the event's`)
}

/** Every currency must sum to zero, system accounts included. */
function checkCurrencyTotals(rows: ReplayState, findings: Findings): void {
  const sums = new Map<string, bigint>()
  for (const [account, { balance }] of rows.rows(balances)) {
    const currency = currencyOf(account)
    sums.set(currency, (sums.get(currency) ?? 0n) + balance)
  }
  for (const [currency, sum] of sums) {
    if (sum === 0n) continue
    findings.add({
      check: 'double-entry',
      position: null,
      account: currency,
      message: `all balances in ${currency} sum to ${sum}`,
    })
  }
}

/** The checkpoint that a month was closed with must have the ledger's hash at its position. */
async function checkClosings(snapshot: Snapshot, rows: ReplayState, findings: Findings): Promise<void> {
  const closed = [...rows.rows(closings)].map(([, closing]) => closing)
  const hashes = await snapshot.hashesAt(closed.map(({ last_position }) => last_position))
  for (const { month, closing_id, last_position, checkpoint } of closed) {
    // What comes after the closing cannot have been in its files.
    const hash = last_position < closing_id ? hashes.get(last_position) : undefined
    if (hash === checkpoint.hash) continue
    findings.add({
      check: 'checkpoint',
      position: closing_id,
      message: `${month} was closed with the hash ${checkpoint.hash} at position ${last_position}, before it the ledger has ${hash ?? 'no event there'}`,
    })
  }
}

/** From a cursor beyond the end, a subscriber would leave out events. `IndexChecks` check the cursor of the index. */
async function checkCursors(snapshot: Snapshot): Promise<readonly Finding[]> {
  const beyond = await snapshot.query(
    `select c.name, c.position, h.position as head from ledger_cursors c join ledger_head h on c.position > h.position
     where c.name <> '${INDEX_CURSOR}' order by c.name`,
  )
  return beyond.map(({ name, position, head }) => ({
    check: 'projection',
    position: null,
    table: 'ledger_cursors',
    id: String(name),
    message: `position is ${position}, beyond the end of the ledger, ${head}`,
  }))
}

/** The amount on hold of each wallet must be the sum of its pending withdrawals. */
function checkHolds(rows: ReplayState, findings: Findings): void {
  const pending = new Map<string, bigint>()
  for (const [, request] of rows.rows(withdrawals)) {
    if (request.status !== 'pending') continue
    const wallet = walletAccount(request.user_id, request.wallet)
    pending.set(wallet, (pending.get(wallet) ?? 0n) + BigInt(request.amount))
  }
  const holding = new Map([...rows.rows(holds)].map(([account, { held }]) => [account, held]))
  for (const account of new Set([...pending.keys(), ...holding.keys()])) {
    const held = holding.get(account) ?? 0n
    const expected = pending.get(account) ?? 0n
    if (held === expected) continue
    findings.add({
      check: 'holds',
      position: null,
      account,
      message: `${held} of ${account} is on hold, but its pending requests sum to ${expected}`,
    })
  }
}
