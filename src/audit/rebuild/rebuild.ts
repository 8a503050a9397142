import { tables } from '../../domain.ts'
import { Snapshot } from '../../ledger/replay/snapshot.ts'
import { Findings, formatFinding } from '../finding.ts'
import { LedgerScan, type ScanOptions } from '../ledger-scan.ts'
import { ShadowTables } from './shadow-tables.ts'

/** What was built. */
export interface RebuildResult {
  /** The last event that is in the new tables. */
  readonly position: number
  readonly tables: number
  readonly rows: number
  /** How long commands had to wait for the swap. */
  readonly swapMs: number
}

/** Events that may be left to be read while commands wait. */
const MAX_CATCH_UP_EVENTS = 500
/** Attempts to swap, each of which makes commands wait for up to 2 s. */
const MAX_SWAP_ATTEMPTS = 10

/**
 * Builds all tables that follow from the ledger anew, beside the live ones and while commands go on, and swaps them in
 * when they have caught up. Tables of words, replies and other things that are not on the ledger stay as they are.
 * Throws when the ledger itself is not sound, or when the tables could not be had for the swap; then the live ones are
 * untouched.
 */
export async function rebuild(ownerUrl: string, options: ScanOptions): Promise<RebuildResult> {
  await using closing = new AsyncDisposableStack()
  const derived = tables.filter(({ source }) => source === 'ledger')
  const built = await ShadowTables.create(ownerUrl, derived)
  closing.defer(() => built.close())
  const snapshot = await Snapshot.connect(ownerUrl)
  closing.defer(() => snapshot.close())

  const findings = new Findings()
  const reading = await LedgerScan.start(snapshot, await snapshot.head(), findings, options)
  closing.defer(() => reading.close())
  const { rows } = reading
  /** Reads up to where the ledger ends by now. */
  const catchUp = async (): Promise<number> => {
    const { position, hash } = await snapshot.head()
    const before = reading.last.position
    await reading.scanUpTo(position)
    await reading.drain()
    const { last } = reading
    if (findings.sorted().length === 0 && (last.position !== position || last.hash !== hash)) {
      findings.add({ check: 'head', position, message: `the ledger ends at ${last.position} with hash ${last.hash}` })
    }
    const [first] = findings.sorted()
    if (first !== undefined) throw new Error(`The ledger is not sound. ${formatFinding(first)}`)
    return position - before
  }

  await catchUp()
  await reading.importBalances()
  rows.trackChanges()
  const count = await built.fill(rows, reading.onPage)
  for (let attempt = 1; attempt <= MAX_SWAP_ATTEMPTS; attempt += 1) {
    let read: number
    do {
      read = await catchUp()
      await built.update(rows)
      rows.trackChanges()
    } while (read > MAX_CATCH_UP_EVENTS)
    await built.waitForReaders(options.signal)
    const began = performance.now()
    reading.isThrottled = false
    const swapped = await built.swap(async () => {
      await catchUp()
      await built.update(rows)
    })
    reading.isThrottled = true
    const swapMs = performance.now() - began
    if (swapped) return { position: reading.last.position, tables: derived.length, rows: count, swapMs }
  }
  throw new Error('Somebody reads the tables all the time: they could not be swapped. Nothing was changed.')
}
