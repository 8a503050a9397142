import { tables } from '../../domain.ts'
import { acknowledgements } from '../../features/closings/finding.ts'
import { Snapshot } from '../../ledger/replay/snapshot.ts'
import type { Head } from '../../ledger/storage/event-hash.ts'
import { type OpenedSeal, openFirstSeal } from '../seals/open-seal.ts'
import { readSeals } from '../seals/read-seals.ts'
import { readAcknowledged } from '../verify/acknowledged-findings.ts'
import { type Finding, Findings, formatFinding, idOfFinding } from '../verify/finding.ts'
import { LedgerScan, rangeUrgency, type ScanOptions } from '../verify/ledger-scan.ts'
import { indexTables } from './shadow-indexes.ts'
import { ShadowTables, TABLES_NOT_LOCKED } from './shadow-tables.ts'

export interface RebuildResult {
  /** The last event that is in the new tables. */
  readonly position: number
  readonly tables: number
  readonly rows: number
  /** How long commands had to wait for the swap. */
  readonly swapMs: number
  /** The position of the seal that it began at; null where it began at 1. */
  readonly seal: number | null
  /** Why it did not begin at a newer seal, in sentences. */
  readonly notices: readonly string[]
}

interface RebuildOptions extends ScanOptions {
  /** The folder of snapshots. Left out: begins at position 1. */
  readonly sealsFolder?: string
}

/** Events that may be left to read when the swap makes commands wait. */
const MAX_CATCH_UP_EVENTS = 500
/** Attempts to swap, each of which makes commands wait for up to 2 s. */
const MAX_SWAP_ATTEMPTS = 10

/**
 * Rebuilds all tables that are derived from the ledger while commands continue, its indexes only from position 1, as they
 * need all events: fills new tables, lets them catch up with the ledger, and swaps them in for the live ones. Tables with
 * other data (profiles, replies) stay as they are. Throws, with the live tables unchanged, when the ledger has findings
 * that nobody acknowledged, or when the live tables cannot be locked for the swap.
 */
export async function rebuild(ownerUrl: string, options: RebuildOptions): Promise<RebuildResult> {
  await using closing = new AsyncDisposableStack()
  const snapshot = await Snapshot.connect(ownerUrl, options.signal)
  closing.defer(() => snapshot.close())
  const derived = tables.filter(({ source }) => source === 'ledger')
  const shadowTables = await ShadowTables.open(ownerUrl, derived)
  closing.defer(() => shadowTables.close())
  const head = await snapshot.head()
  const unpacking = closing.use(new AsyncDisposableStack())
  const { seal, notices } = await newestSeal(snapshot, head, options, unpacking)
  await shadowTables.create(seal === null)

  const findings = new Findings(await readAcknowledged(snapshot))
  const scan = await LedgerScan.start(snapshot, head, findings, options, seal)
  closing.defer(() => scan.close())
  await unpacking.disposeAsync()
  const { rows } = scan
  /** Without those that were acknowledged, by the ledger itself. */
  const openFindings = (): readonly Finding[] =>
    findings.sorted().filter((finding) => rows.get(acknowledgements, idOfFinding(finding)) === undefined)
  /** Reads up to the current end of the ledger. Answers how many events that were. */
  const catchUp = async (): Promise<number> => {
    const { position, hash } = await snapshot.head()
    const before = scan.last.position
    await scan.scanUpTo(position)
    await scan.drain()
    const { last } = scan
    if (openFindings().length === 0 && (last.position !== position || last.hash !== hash)) {
      findings.add({ check: 'head', position, message: `the ledger ends at ${last.position} with hash ${last.hash}` })
    }
    const [first] = openFindings()
    if (first !== undefined) throw new Error(`The ledger is not sound. ${formatFinding(first)}`)
    return position - before
  }

  let caughtUp = await catchUp()
  await scan.importBalances()
  rows.trackChanges()
  const count = await shadowTables.fill(rows, scan.last.position, scan)
  for (let attempt = 1; attempt <= MAX_SWAP_ATTEMPTS; attempt += 1) {
    do {
      const before = caughtUp
      caughtUp = await catchUp()
      await shadowTables.update(rows, scan.last.position, rangeUrgency(caughtUp, before))
      rows.trackChanges()
    } while (caughtUp > MAX_CATCH_UP_EVENTS)
    await shadowTables.waitForReaders(options.signal)
    const began = performance.now()
    scan.isThrottled = false
    const swapped = await shadowTables.swap(async () => {
      await catchUp()
      await shadowTables.update(rows, scan.last.position, 1)
      await shadowTables.writeEventTypes(scan)
    })
    scan.isThrottled = true
    const swapMs = performance.now() - began
    if (swapped) {
      const { position } = scan.last
      const built = derived.length + (seal === null ? indexTables.length : 0)
      return { position, tables: built, rows: count, swapMs, seal: seal?.last.position ?? null, notices }
    }
  }
  throw new Error(TABLES_NOT_LOCKED)
}

/** A changed snapshot keeps no table from being built: `verify` finds it. */
async function newestSeal(
  snapshot: Snapshot,
  { position }: Head,
  { sealsFolder }: RebuildOptions,
  closing: AsyncDisposableStack,
): Promise<{ readonly seal: OpenedSeal | null; readonly notices: readonly string[] }> {
  if (sealsFolder === undefined) return { seal: null, notices: [] }
  const seals = await readSeals(snapshot.query, position, position)
  const { seal, notices, findings } = await openFirstSeal(snapshot.query, sealsFolder, seals, closing)
  return { seal, notices: [...notices, ...findings.map(formatFinding)] }
}
