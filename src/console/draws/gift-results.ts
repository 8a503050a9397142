import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { type FrequencyTest, MIN_P_VALUE, testFrequencies } from '../../audit/verify/draws/frequency-test.ts'
import type { Tables } from '../../db/tables.ts'
import { decorationNames, publishedOddsTable } from '../../features/gifts/reads.ts'
import { amountCell, codeCell, numberCell, statusCell, textCell } from '../layout/cells.ts'
import { addressWith } from '../layout/links.ts'
import { type Column, column, NumberQuery, numberColumn } from '../lists/list.ts'
import { periodFilters } from '../lists/period.ts'
import type { GiftCounts } from './gift-counts.ts'

export const resultFilters = Type.Object({
  ...periodFilters,
  gift: NumberQuery,
})

/** One row of an odds table: what was published, and what was drawn. */
interface OutcomeCounts {
  readonly multiplier: number
  readonly weight: number
  readonly observed: number
  /** As a share of all draws, from 0 to 1. */
  readonly expected: number
}

/** The result of the house by a gift and one version of its odds. */
export interface GiftResult extends GiftCounts {
  readonly name: string
  readonly draws: number
  /** What the house kept, in diamonds; negative when it lost. */
  readonly house: bigint
  /** As shares of the stakes; null where nothing is drawn. */
  readonly publishedReturn: number | null
  readonly outcomes: readonly OutcomeCounts[]
  readonly test: FrequencyTest | null
}

/** Gifts by their names and odds, those that moved most first. */
export async function describeResults(
  db: Kysely<Tables>,
  counts: readonly GiftCounts[],
  gift: number | null,
): Promise<readonly GiftResult[]> {
  const wanted = counts.filter(({ decoration_id }) => gift === null || decoration_id === gift)
  if (wanted.length === 0) return []
  const names = await decorationNames(
    db,
    wanted.map(({ decoration_id }) => decoration_id),
  )
  const results = await Promise.all(
    wanted.map(async (counted): Promise<GiftResult> => {
      const { decoration_id, odds_hash, drawn, paidIn, paidOut } = counted
      const table = odds_hash === null ? undefined : await publishedOddsTable(db, odds_hash)
      const total = table?.odds.reduce((sum, { weight }) => sum + weight, 0) ?? 0
      const outcomes =
        table?.odds.map(({ multiplier, weight }, i) => ({
          multiplier,
          weight,
          observed: drawn[i] ?? 0,
          expected: weight / total,
        })) ?? []
      return {
        ...counted,
        name: names.get(decoration_id)?.name ?? '',
        draws: drawn.reduce((sum, count) => sum + count, 0),
        house: paidIn - paidOut,
        publishedReturn: table?.return_to_player ?? null,
        outcomes,
        test: table === undefined ? null : testFrequencies(outcomes),
      }
    }),
  )
  return results.toSorted((a, b) => Number(b.paidIn - a.paidIn) || a.decoration_id - b.decoration_id)
}

export const formatShare = (share: number): string => `${(share * 100).toFixed(2)}%`

/** In at most this share of such periods do fair draws deviate as much or more. */
export function formatP({ p }: FrequencyTest): string {
  if (p === null) return 'nothing to judge'
  return p < 0.0001 ? p.toExponential(1) : p.toFixed(4)
}

/** Fair draws deviate so much once in a thousand such periods, or less. */
export const isRare = ({ p }: FrequencyTest): boolean => p !== null && p < 0.001

const judgementOf = (test: FrequencyTest): string =>
  test.p === null ? '' : isRare(test) ? ', rare' : ', within chance'

export const resultColumns = (query: { readonly from: string; readonly to: string }): readonly Column<GiftResult>[] => [
  column('gift', 'Gift', ({ decoration_id, name }) =>
    textCell(`${name || 'Gift'} (${decoration_id})`, addressWith('/console/draws', { ...query, gift: decoration_id })),
  ),
  column('odds', 'Odds', ({ odds_hash }) =>
    odds_hash === null ? textCell('none') : { ...codeCell(odds_hash), text: odds_hash.slice(0, 10) },
  ),
  numberColumn('sends', 'Sends', ({ sends }) => numberCell(sends)),
  numberColumn('draws', 'Draws', ({ draws }) => numberCell(draws)),
  numberColumn('paid_in', 'Paid in', ({ paidIn }) => amountCell('diamonds', paidIn)),
  numberColumn('paid_out', 'Paid out', ({ paidOut }) => amountCell('diamonds', paidOut)),
  numberColumn('house_result', 'House result', ({ house }) => amountCell('diamonds', house)),
  column('house', 'House', ({ house }) =>
    house === 0n ? statusCell('even') : house > 0n ? statusCell('won', 'good') : statusCell('lost', 'bad'),
  ),
  numberColumn('actual_return', 'Actual return', ({ draws, paidIn, paidOut }) =>
    textCell(draws === 0 || paidIn === 0n ? null : formatShare(Number(paidOut) / Number(paidIn))),
  ),
  numberColumn('published_return', 'Published return', ({ publishedReturn }) =>
    textCell(publishedReturn === null ? null : formatShare(publishedReturn)),
  ),
  numberColumn('p_value', 'p', ({ test }) =>
    test === null
      ? textCell(null)
      : test.p !== null && test.p < MIN_P_VALUE
        ? statusCell(formatP(test), 'bad')
        : { ...textCell(`${formatP(test)}${judgementOf(test)}`), value: formatP(test) },
  ),
]
