import { tables } from '../../domain.ts'
import { Snapshot } from '../../ledger/replay/snapshot.ts'
import { describe, Findings } from '../finding.ts'
import { LedgerReading, type ReadingOptions } from '../ledger-scan.ts'
import { NewTables } from './new-tables.ts'

/** What was built. */
export interface Rebuilt {
  /** The last event that is in the new tables. */
  readonly position: number
  readonly tables: number
  readonly rows: number
  /** How long commands had to wait for the swap. */
  readonly swapMs: number
}

/** Events that may be left to be read while commands wait. */
const FEW = 500
/** Attempts to swap, each of which makes commands wait for up to 2 s. */
const ATTEMPTS = 10

/**
 * Builds all tables that follow from the ledger anew, beside the live ones and while commands go on, and swaps them in
 * when they have caught up. Tables of words, replies and other things that are not on the ledger stay as they are.
 * Throws when the ledger itself is not sound, or when the tables could not be had for the swap; then the live ones are
 * untouched.
 */
export async function rebuild(ownerUrl: string, options: ReadingOptions): Promise<Rebuilt> {
  await using closing = new AsyncDisposableStack()
  const derived = tables.filter(({ source }) => source === 'ledger')
  const built = await NewTables.make(ownerUrl, derived)
  closing.defer(() => built.close())
  const snapshot = await Snapshot.connect(ownerUrl)
  closing.defer(() => snapshot.close())

  const findings = new Findings()
  const reading = await LedgerReading.begin(snapshot, await snapshot.head(), findings, options)
  closing.defer(() => reading.close())
  const { rows } = reading
  /** Reads up to where the ledger ends by now. */
  const catchUp = async (): Promise<number> => {
    const { position, hash } = await snapshot.head()
    const before = reading.last.position
    await reading.upTo(position)
    await reading.settled()
    const { last } = reading
    if (findings.inOrder().length === 0 && (last.position !== position || last.hash !== hash)) {
      findings.add({ check: 'head', position, message: `the ledger ends at ${last.position} with hash ${last.hash}` })
    }
    const [first] = findings.inOrder()
    if (first !== undefined) throw new Error(`The ledger is not sound. ${describe(first)}`)
    return position - before
  }

  await catchUp()
  await reading.bringBalances()
  rows.trackChanges()
  const count = await built.fill(rows, reading.onPage)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    let read: number
    do {
      read = await catchUp()
      await built.update(rows)
      rows.trackChanges()
    } while (read > FEW)
    await built.noReaders(options.signal)
    const began = performance.now()
    reading.resting = false
    const swapped = await built.swap(async () => {
      await catchUp()
      await built.update(rows)
    })
    reading.resting = true
    const swapMs = performance.now() - began
    if (swapped) return { position: reading.last.position, tables: derived.length, rows: count, swapMs }
  }
  throw new Error('Somebody reads the tables all the time: they could not be swapped. Nothing was changed.')
}
