import type { Kysely } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { evolveWithMovements } from '../../../domain.ts'
import { Replay } from '../../../ledger/replay/replay.ts'
import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import { parseStoredEvent } from '../../../ledger/storage/stored-event.ts'
import type { QueryContext } from '../../reports/query-context.ts'
import { readEntries } from '../../reports/write-export.ts'
import type { OpenedSeal } from '../../seals/open-seal.ts'
import { sealBefore } from '../../seals/seal-before.ts'
import { LuckyChecks, replayedTables, SpinChecks } from './draw-checks.ts'
import { DrawCounts, type DrawFault, type DrawReport } from './draw-counts.ts'

interface DrawsAsked {
  readonly url: string
  readonly db: Kysely<Tables>
  /** The last position. */
  readonly last: number
  /** Begins at the newest seal up to here. */
  readonly after: number
}

/** Recomputes every draw from a seal on, or from position 1. */
export async function checkDrawsUpTo({ url, db, last, after }: DrawsAsked, context: QueryContext): Promise<DrawReport> {
  await using closing = new AsyncDisposableStack()
  const seal = await sealBefore(db, after, context, closing)
  const first = (seal?.last.position ?? 0) + 1
  return await checkDraws(readEntries(url, { first, last }, context), seal)
}

/** Recomputes every draw of these events, and compares the frequency of each outcome with the expected one. */
export async function checkDraws(
  pages: AsyncIterable<readonly LedgerEntry[]>,
  seal: OpenedSeal | null = null,
): Promise<DrawReport> {
  const replay = new Replay(evolveWithMovements, { tables: replayedTables, base: seal?.tables ?? new Map() })
  using state = replay.state
  const faults: DrawFault[] = []
  const counts = new DrawCounts(state, (position, message) => void faults.push({ position, message }))
  const checks = [new LuckyChecks(counts), new SpinChecks(counts)]
  let events = 0
  for await (const page of pages) {
    for (const entry of page) {
      const event = parseStoredEvent(entry)
      for (const check of checks) check.check(event, entry, state)
      replay.fold(event, event.movements)
      events += 1
    }
  }
  return { seal: seal?.last.position ?? null, events, faults, ...counts.frequencies }
}
