import { type Kysely, sql } from 'kysely'
import { micros } from '../../../db/queries/expressions.ts'
import type { Tables } from '../../../db/tables.ts'
import { entriesAt, entriesBetween } from '../../../ledger/indexes/account-entries.ts'
import {
  eventsWith,
  IndexLagExceeded,
  MAX_UNINDEXED_EVENTS,
  readIndexed,
  readSums,
} from '../../../ledger/indexes/index-reads.ts'
import { accountTerm } from '../../../ledger/indexes/index-terms.ts'
import { readLatestEntries } from '../../../ledger/indexes/latest-entries.ts'
import type { Micros } from '../../../ledger/rules/time.ts'
import type { Period } from '../period.ts'
import { readBalancesAt } from './balances-at.ts'

/** A balance after the last of the movements that a point stands for. */
export interface BalancePoint {
  readonly position: number
  readonly at: Micros
  /** Whole units (cents of a dollar). */
  readonly balance: bigint
}

export interface BalanceSeries {
  /** The balance before the period. */
  readonly opening: bigint
  /** In order. */
  readonly points: readonly BalancePoint[]
  /** Whether every movement of the period is a point. */
  readonly isComplete: boolean
}

export const MAX_POINTS = 100
/** Movements that are read one by one, instead of the balances at the ends of blocks. */
const MAX_MOVEMENTS = 300

/** An account's balance over a period, as at most 100 points. Throws `IndexLagExceeded`. */
export async function readBalanceSeries(db: Kysely<Tables>, account: string, period: Period): Promise<BalanceSeries> {
  const { first, last } = period
  const opening = (await readBalancesAt(db, [account], first - 1)).get(account) ?? 0n
  if (first > last) return { opening, points: [], isComplete: true }
  const { indexed, positions } = await readPositionsOf(db, account, period)
  if (last - indexed > MAX_UNINDEXED_EVENTS) throw new IndexLagExceeded(`the index ends at ${indexed}, before ${last}`)
  if (positions === null) {
    const samples = await readSamples(db, account, { first, last: Math.min(last, indexed) })
    const newest = { accounts: [account], numbered: [account], before: { position: last + 1, number: 0 }, limit: 1 }
    const { entries } = await readLatestEntries(db, newest)
    const end = entries.filter(({ position }) => position > (samples.at(-1)?.position ?? first - 1))
    const points = [...samples, ...end.map(({ position, at, balance }) => ({ position, at, balance }))]
    return { opening, points, isComplete: false }
  }
  const entries = [
    ...(await entriesAt(db, [account], positions)),
    ...(await entriesBetween(db, [account], Math.max(first - 1, indexed), last)),
  ]
  let balance = opening
  return seriesOf(
    opening,
    entries.map(({ position, at, amount }) => ({ position, at, balance: (balance += BigInt(amount)) })),
  )
}

/** The same of movements that were read already: all of a period, in order, each with the balance after it. */
export function seriesOf(opening: bigint, movements: readonly BalancePoint[]): BalanceSeries {
  const points = movements.filter(({ position }, i) => movements[i + 1]?.position !== position)
  if (points.length <= MAX_POINTS) return { opening, points, isComplete: points.length === movements.length }
  return { opening, points: choosePoints(points, MAX_POINTS), isComplete: false }
}

/** The positions of the account's movements in a period up to where the index is; null when there are too many. */
async function readPositionsOf(db: Kysely<Tables>, account: string, period: Period) {
  const indexed = await readIndexed(db)
  const positions: number[] = []
  const within = { ...period, last: Math.min(period.last, indexed) }
  for await (const { events } of eventsWith(db, [accountTerm(account)], within, 'oldest')) {
    positions.push(...events.map(({ position }) => position))
    if (positions.length > MAX_MOVEMENTS) return { indexed, positions: null }
  }
  return { indexed, positions }
}

/** The balances after the last movements before positions that are evenly spread. */
async function readSamples(db: Kysely<Tables>, account: string, { first, last }: Period): Promise<BalancePoint[]> {
  const length = last - first + 1
  const ends = Array.from(
    { length: MAX_POINTS - 1 },
    (_, i) => first - 1 + Math.floor((length * (i + 1)) / (MAX_POINTS - 1)),
  )
  const sums = await readSums(db, [account], ends)
  const balances = new Map(
    ends.map((end) => {
      const sum = sums(account, end)
      return [sum.last, sum.balance]
    }),
  )
  const positions = [...balances.keys()].filter((position) => position >= first)
  const { rows } = await sql<{ position: number; at: Micros }>`
    select position, ${micros('at')} as at from ledger_events where position = any (${positions}::bigint[])
    order by position`.execute(db)
  return rows.map(({ position, at }) => ({ position, at, balance: balances.get(position) ?? 0n }))
}

/**
 * So many of a list's points, evenly spread and ending with the last one; `count` is at most their number. In whole numbers,
 * as 100 times 1.1 is more than 110 and the last point would be missed.
 */
export const choosePoints = <Point>(points: readonly Point[], count: number): Point[] =>
  points.filter((_, i) => Math.floor((i * count) / points.length) < Math.floor(((i + 1) * count) / points.length))
