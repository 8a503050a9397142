import { tables } from '../../domain.ts'
import type { ReplayState } from '../../ledger/replay/replay-state.ts'
import { Snapshot } from '../../ledger/replay/snapshot.ts'
import { balances, currencyOf } from '../../ledger/rules/account.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { Head } from '../../ledger/storage/head.ts'
import type { RowTable } from '../../ledger/storage/row-table.ts'
import type { CheckpointHead } from '../checkpoint/checkpoint.ts'
import { type Finding, Findings, MAX_FINDINGS } from '../finding.ts'
import { LedgerScan, type ScanOptions } from '../ledger-scan.ts'
import { checkHolds } from './check-holds.ts'
import { checkReplies } from './check-replies.ts'
import { compareTable } from './compare-table.ts'
import type { LastEvent } from './integrity-checks.ts'

/** What was verified, and what was found to be wrong. */
export interface Verification {
  /** The last event that was looked at. */
  readonly position: number
  readonly events: number
  /** Empty when all is well; else the first wrong position first. */
  readonly findings: readonly Finding[]
}

export interface VerifyOptions extends ScanOptions {
  /** The last position to look at; today's tables are then left out. Null: the whole ledger and the tables. */
  readonly asOf: number | null
  /** What was signed once: history up to its position must lead to its hash. */
  readonly checkpoint: CheckpointHead | null
}

/** Events that are left for the moment that is frozen. */
const MAX_FROZEN_EVENTS = 500

/**
 * Replays the ledger and checks that its order has no gap, that its hashes and times follow from each other, that
 * every event can be read, is booked on two sides and breaks no rule, and every draw; then that the head, the
 * remembered replies and every row of the tables are what the events say. Throws when there is no position `asOf`.
 *
 * Only what came in meanwhile, the head, replies and tables are read as of one moment.
 */
export async function verify(url: string, options: VerifyOptions): Promise<Verification> {
  await using closing = new AsyncDisposableStack()
  const opening = [Snapshot.connect(url), Snapshot.connect(url)] as const
  closing.defer(async () => {
    for (const opened of await Promise.allSettled(opening))
      if (opened.status === 'fulfilled') await opened.value.close()
  })
  const [snapshot, beside] = await Promise.all(opening)
  const { asOf } = options
  if (asOf !== null && options.checkpoint !== null && options.checkpoint.position > asOf) {
    throw new Error(
      `The checkpoint is of position ${options.checkpoint.position}, beyond ${asOf}, up to which is looked.`,
    )
  }
  let head = await snapshot.head()
  if (asOf !== null && asOf > head.position) throw new Error(`The ledger ends at position ${head.position}.`)
  const findings = new Findings()
  const reading = await LedgerScan.start(snapshot, head, findings, options)
  closing.defer(() => reading.close())
  if (options.checkpoint !== null) reading.expectCheckpoint(options.checkpoint)
  const replies = (from: number, upTo: number): Promise<readonly Finding[]> => checkReplies(beside, from, upTo)
  await reading.scanUpTo(asOf ?? head.position, replies)
  // What came in meanwhile, until that is so little that a frozen moment need not last.
  while (asOf === null && !findings.isFull) {
    const { position } = await snapshot.head()
    if (position - reading.next < MAX_FROZEN_EVENTS) break
    await reading.scanUpTo(position, replies)
  }
  await snapshot.freeze()
  if (asOf === null && !findings.isFull) {
    head = await snapshot.head()
    const { next } = reading
    await reading.scanRest()
    for (const finding of await checkReplies(snapshot, next, Number.MAX_SAFE_INTEGER)) findings.add(finding)
  }
  const compared = asOf === null ? tables.filter(({ source }) => source === 'ledger') : []
  const compare = async (table: RowTable): Promise<readonly Finding[]> =>
    findings.isFull ? [] : compareTable(snapshot, table, reading.rows, reading.onPage)
  // The other half goes on meanwhile; it has the balances.
  const differing: Finding[] = []
  for (const table of compared) {
    if (table.projection !== balances && differing.length < MAX_FINDINGS) differing.push(...(await compare(table)))
  }
  await reading.drain()
  await reading.importBalances()
  for (const table of compared) if (table.projection === balances) differing.unshift(...(await compare(table)))
  if (!findings.isFull) {
    const { last, rows } = reading
    checkHead(last, asOf === null ? head : { ...head, position: asOf }, asOf === null, findings)
    checkTruncation(last.position, options.checkpoint, findings)
    checkCurrencyTotals(rows, findings)
    checkHolds(rows, findings)
  }
  for (const finding of differing) findings.add(finding)
  const { position, events } = findings.cutoff ?? { position: reading.last.position, events: reading.count }
  return { position, events, findings: findings.sorted() }
}

/** The head says where the ledger ends and with what hash; its time is that of the last batch, events or not. */
function checkHead(last: LastEvent, end: Head, whole: boolean, findings: Findings): void {
  const find = (position: number, message: string): void => findings.add({ check: 'head', position, message })
  if (last.position < end.position) find(last.position + 1, `is missing; the ledger ought to reach ${end.position}`)
  else if (last.position > end.position) find(end.position + 1, `is beyond the head, which stands at ${end.position}`)
  else if (whole && end.hash !== last.hash) find(end.position, `the head has another hash, ${end.hash}`)
  if (whole && end.at < last.at) find(last.position, `the head's time, ${isoMicros(end.at)}, is before the event's`)
}

/** A ledger that ends before a checkpoint was cut, or set back to an old backup. */
function checkTruncation(last: number, checkpoint: CheckpointHead | null, findings: Findings): void {
  if (checkpoint === null || checkpoint.position <= last) return
  const message = `is missing; the ledger reached position ${checkpoint.position} when the checkpoint of ${checkpoint.at} was signed`
  findings.add({ check: 'checkpoint', position: last + 1, message })
}

/** Every currency sums to zero, the system's accounts included. */
function checkCurrencyTotals(rows: ReplayState, findings: Findings): void {
  const sums = new Map<string, bigint>()
  for (const account of rows.ids(balances)) {
    const currency = currencyOf(account)
    sums.set(currency, (sums.get(currency) ?? 0n) + (rows.get(balances, account)?.balance ?? 0n))
  }
  for (const [currency, sum] of sums) {
    if (sum === 0n) continue
    findings.add({ check: 'double-entry', position: null, message: `all balances in ${currency} sum to ${sum}` })
  }
}
