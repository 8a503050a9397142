import type { Kysely } from 'kysely'
import type { OddsRow } from '../../../../schema/events.ts'
import type { Tables } from '../../../db/tables.ts'
import { evolveWithMovements } from '../../../domain.ts'
import { oddsTables } from '../../../features/gifts/decoration.ts'
import { rowForNumber, totalWeight } from '../../../features/gifts/odds.ts'
import { Replay } from '../../../ledger/replay/replay.ts'
import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import { parseStoredEvent } from '../../../ledger/storage/stored-event.ts'
import type { QueryContext } from '../../reports/query-context.ts'
import { readEntries } from '../../reports/write-export.ts'
import type { OpenedSeal } from '../../seals/open-seal.ts'
import { sealBefore } from '../../seals/seal-before.ts'
import { type DrawObserver, LuckyChecks, replayedTables, SpinChecks } from './draw-checks.ts'
import { type Frequency, type FrequencyTest, MIN_P_VALUE, testFrequencies } from './frequency-test.ts'

interface DrawFault {
  readonly position: number
  readonly message: string
}

/** How often each row of an odds table was drawn. */
interface OddsFrequencies extends FrequencyTest {
  readonly odds_hash: string
  readonly decoration_id: number
  readonly rows: readonly (Frequency & { /** Ten-thousandths of the stake. */ readonly multiplier: number })[]
}

/** How often each place won, of all spins with the same number of players. */
interface SpinFrequencies extends FrequencyTest {
  readonly players: number
  readonly places: readonly Frequency[]
}

export interface DrawReport {
  /** The position of the seal that it begins at: no draw up to there is in it. Null: it begins at position 1. */
  readonly seal: number | null
  readonly events: number
  readonly faults: readonly DrawFault[]
  readonly lucky: readonly OddsFrequencies[]
  /** Lucky draws whose chains were opened by the sends themselves. */
  readonly unannounced: number
  readonly spins: readonly SpinFrequencies[]
}

interface OddsCounts {
  readonly decoration_id: number
  readonly odds: readonly OddsRow[]
  readonly weight: number
  readonly counts: Map<OddsRow, number>
}

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
  using _ = replay.state
  const faults: DrawFault[] = []
  const tables = new Map<string, OddsCounts>()
  const spins = new Map<number, number[]>()
  let unannounced = 0
  const tableOf = (hash: string): OddsCounts | undefined => {
    let table = tables.get(hash)
    if (table === undefined) {
      const found = replay.state.get(oddsTables, hash)
      if (found === undefined) return undefined
      table = { ...found, weight: totalWeight(found.odds), counts: new Map() }
      tables.set(hash, table)
    }
    return table
  }
  const observer: DrawObserver = {
    onFault: (position, message) => void faults.push({ position, message }),
    onLuckyDraw(hash, r, announced) {
      if (!announced) unannounced += 1
      const table = tableOf(hash)
      if (table === undefined) return
      const row = rowForNumber(table.odds, r)
      table.counts.set(row, (table.counts.get(row) ?? 0) + 1)
    },
    onSpin(players, draw) {
      const places = spins.get(players) ?? Array.from({ length: players }, () => 0)
      places[draw] = (places[draw] ?? 0) + 1
      spins.set(players, places)
    },
  }
  const checks = [new LuckyChecks(observer), new SpinChecks(observer)]
  let events = 0
  for await (const page of pages) {
    for (const entry of page) {
      const event = parseStoredEvent(entry)
      for (const check of checks) check.check(event, entry, replay.state)
      replay.fold(event, event.movements)
      events += 1
    }
  }
  return {
    seal: seal?.last.position ?? null,
    events,
    faults,
    lucky: [...tables].map(([odds_hash, { decoration_id, odds, weight, counts }]): OddsFrequencies => {
      const rows = odds.map((row) => ({
        multiplier: row.multiplier,
        observed: counts.get(row) ?? 0,
        expected: row.weight / weight,
      }))
      return { odds_hash, decoration_id, ...testFrequencies(rows), rows }
    }),
    unannounced,
    spins: [...spins]
      .sort(([a], [b]) => a - b)
      .map(([players, counts]): SpinFrequencies => {
        const places = counts.map((observed) => ({ observed, expected: 1 / players }))
        return { players, ...testFrequencies(places), places }
      }),
  }
}

/** What a fair game shows once in a million months, for people: a reason to look, and no finding. */
export function drawObservations({ lucky, spins }: DrawReport): string[] {
  const improbable = <T extends FrequencyTest>(one: T): readonly (T & { readonly p: number })[] => {
    const { p } = one
    return p !== null && p < MIN_P_VALUE ? [{ ...one, p }] : []
  }
  return [
    ...lucky
      .flatMap(improbable)
      .map(
        ({ odds_hash, p }) =>
          `draws by the odds ${odds_hash} deviate from the published odds: p = ${p.toExponential(2)}`,
      ),
    ...spins
      .flatMap(improbable)
      .map(({ players, p }) => `spins among ${players} players are not uniform: p = ${p.toExponential(2)}`),
  ]
}
