import type { OddsRow } from '../../../../schema/events.ts'
import { oddsTables } from '../../../features/gifts/decoration.ts'
import { rowForNumber, totalWeight } from '../../../features/gifts/odds.ts'
import type { State } from '../../../ledger/rules/projection.ts'
import type { DrawObserver } from './draw-checks.ts'
import { type Frequency, type FrequencyTest, MIN_P_VALUE, testFrequencies } from './frequency-test.ts'

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

/** What was drawn. */
export interface DrawFrequencies {
  readonly lucky: readonly OddsFrequencies[]
  /** Lucky draws whose chains were opened by the sends themselves. */
  readonly unannounced: number
  readonly spins: readonly SpinFrequencies[]
}

export interface DrawFault {
  readonly position: number
  readonly message: string
}

export interface DrawReport extends DrawFrequencies {
  /** The position of the seal that it begins at: no draw up to there is in it. Null: it begins at position 1. */
  readonly seal: number | null
  readonly events: number
  readonly faults: readonly DrawFault[]
}

interface OddsCounts {
  readonly decoration_id: number
  readonly odds: readonly OddsRow[]
  readonly weight: number
  readonly counts: Map<OddsRow, number>
}

/** Counts what is drawn, draw by draw. */
export class DrawCounts implements DrawObserver {
  readonly onFault: DrawObserver['onFault']
  readonly #state: State
  readonly #tables = new Map<string, OddsCounts>()
  readonly #spins = new Map<number, number[]>()
  #unannounced = 0

  /** `state`: replayed from the events before that of each draw. */
  constructor(state: State, onFault: DrawObserver['onFault']) {
    this.#state = state
    this.onFault = onFault
  }

  onLuckyDraw(oddsHash: string, r: number, announced: boolean): void {
    if (!announced) this.#unannounced += 1
    const table = this.#tableOf(oddsHash)
    if (table === undefined) return
    const row = rowForNumber(table.odds, r)
    table.counts.set(row, (table.counts.get(row) ?? 0) + 1)
  }

  onSpin(players: number, draw: number): void {
    const places = this.#spins.get(players) ?? Array.from({ length: players }, () => 0)
    places[draw] = (places[draw] ?? 0) + 1
    this.#spins.set(players, places)
  }

  /** How often each outcome was drawn so far, compared with the expected frequency. */
  get frequencies(): DrawFrequencies {
    return {
      lucky: [...this.#tables].map(([odds_hash, { decoration_id, odds, weight, counts }]): OddsFrequencies => {
        const rows = odds.map((row) => ({
          multiplier: row.multiplier,
          observed: counts.get(row) ?? 0,
          expected: row.weight / weight,
        }))
        return { odds_hash, decoration_id, ...testFrequencies(rows), rows }
      }),
      unannounced: this.#unannounced,
      spins: [...this.#spins]
        .sort(([a], [b]) => a - b)
        .map(([players, counts]): SpinFrequencies => {
          const places = counts.map((observed) => ({ observed, expected: 1 / players }))
          return { players, ...testFrequencies(places), places }
        }),
    }
  }

  #tableOf(oddsHash: string): OddsCounts | undefined {
    let table = this.#tables.get(oddsHash)
    if (table === undefined) {
      const found = this.#state.get(oddsTables, oddsHash)
      if (found === undefined) return undefined
      table = { ...found, weight: totalWeight(found.odds), counts: new Map() }
      this.#tables.set(oddsHash, table)
    }
    return table
  }
}

/** What a fair game shows once in a million months, for people: a reason to look, and no finding. */
export function drawObservations({ lucky, spins }: DrawFrequencies): string[] {
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
