import { type Kysely, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { AskedKind } from '../../audit/jobs/asked-jobs.ts'
import type { Period } from '../../audit/reports/period.ts'
import type { Tables } from '../../db/tables.ts'

/** What was sent of a gift by one version of its odds, and what it paid. */
export interface GiftCounts {
  readonly decoration_id: number
  /** Null where nothing is drawn. */
  readonly odds_hash: string | null
  readonly sends: number
  /** Diamonds that senders paid the house: nothing for gifts from the bag. */
  readonly paidIn: bigint
  /** Diamonds that the house paid in rewards. */
  readonly paidOut: bigint
  /** How often each row of the odds table was drawn, in its order. */
  readonly drawn: readonly number[]
}

export interface CountedPeriod {
  readonly counts: readonly GiftCounts[]
  /** Events that were counted, of those of the period. */
  readonly events: number
  readonly of: number
}

/** Events of one statement, a few milliseconds of work. */
const RANGE_EVENTS = 500
/** Ranges that are kept: those of 10,000,000 events. */
const MAX_RANGES = 20_000
const MAX_PERIODS = 100
/** Counting so many events takes some 10 ms; a job counts more. */
const MAX_INLINE_EVENTS = 1_000

interface AskedCounts {
  readonly db: Kysely<Tables>
  readonly period: Period
  /** `staff:ann` */
  readonly startedBy: string
}

/**
 * Counts gifts range by range. What is counted once is kept, as stored events never change: another period, or another job,
 * counts only what is left.
 */
export class GiftCounter {
  readonly #ranges: LRUCache<string, readonly GiftCounts[]>
  /** Whole periods, of which ranges may have been dropped since. */
  readonly #periods = new LRUCache<string, CountedPeriod>({ max: MAX_PERIODS })
  readonly #rangeEvents: number
  readonly #maxInlineEvents: number

  constructor({ rangeEvents = RANGE_EVENTS, maxInlineEvents = MAX_INLINE_EVENTS, maxRanges = MAX_RANGES } = {}) {
    this.#ranges = new LRUCache({ max: maxRanges })
    this.#rangeEvents = rangeEvents
    this.#maxInlineEvents = maxInlineEvents
  }

  /** What is counted already. */
  counted(period: Period): CountedPeriod {
    const ranges = this.#rangesOf(period).map(({ key, events }) => ({ events, counts: this.#ranges.get(key) }))
    const done = ranges.filter(({ counts }) => counts !== undefined)
    return {
      counts: sum(done.flatMap(({ counts }) => counts ?? [])),
      events: done.reduce((total, { events }) => total + events, 0),
      of: eventsIn(period),
    }
  }

  /** As jobs, but for periods of which little is left to count. */
  readonly kind: AskedKind<AskedCounts, CountedPeriod> = {
    jobOf: ({ period, startedBy }) => {
      return { kind: 'draws', subject: periodKey(period), startedBy, of: eventsIn(period) }
    },
    short: async ({ db, period }) => {
      const known = this.#periods.get(periodKey(period))
      if (known !== undefined) return known
      const { events, of } = this.counted(period)
      return of - events > this.#maxInlineEvents ? null : this.#count(db, period)
    },
    work:
      ({ db, period }) =>
      async (_job, progress, signal) => {
        const result = await this.#count(db, period, (events) => {
          signal.throwIfAborted()
          progress({ events, of: eventsIn(period) })
        })
        const sends = result.counts.reduce((total, one) => total + one.sends, 0)
        return { result, summary: `${sends.toLocaleString('en')} sends.` }
      },
  }

  /** Calls `onRange` with the events that are counted, after each range. */
  async #count(db: Kysely<Tables>, period: Period, onRange?: (events: number) => void): Promise<CountedPeriod> {
    let counts: readonly GiftCounts[] = []
    for (const { first, last, key } of this.#rangesOf(period)) {
      const ofRange = this.#ranges.get(key) ?? (await countGifts(db, first, last))
      this.#ranges.set(key, ofRange)
      counts = sum([...counts, ...ofRange])
      onRange?.(last - period.first + 1)
    }
    const counted = { counts, events: eventsIn(period), of: eventsIn(period) }
    this.#periods.set(periodKey(period), counted)
    return counted
  }

  /** The ranges of all periods are the same, except at the ends of a period. */
  #rangesOf({ first, last }: Period) {
    const ranges: (Period & { readonly key: string; readonly events: number })[] = []
    for (let from = first; from <= last; ) {
      const to = Math.min(last, from - ((from - 1) % this.#rangeEvents) + this.#rangeEvents - 1)
      ranges.push({ first: from, last: to, key: `${from}-${to}`, events: to - from + 1 })
      from = to + 1
    }
    return ranges
  }
}

const periodKey = ({ first, last }: Period): string => `${first}-${last}`

const eventsIn = ({ first, last }: Period): number => Math.max(0, last - first + 1)

interface Row {
  readonly decoration_id: number
  readonly odds_hash: string | null
  readonly sends: number
  readonly paid_in: string
  readonly rows: readonly { readonly place: number; readonly draws: number; readonly won: string }[] | null
}

/** In the database: to send and parse every event would take longer, and block this thread. */
async function countGifts(db: Kysely<Tables>, first: number, last: number): Promise<GiftCounts[]> {
  const { rows } = await sql<Row>`
    with events as materialized (
      select type, data::jsonb as data from ledger
      where position between ${first} and ${last} and type in ('gift-sent', 'gift-drawn')
    ), sends as (
      select (data->>'decoration_id')::bigint as decoration_id, data->>'odds_hash' as odds_hash, count(*) as sends,
             sum((data->>'cost')::numeric)::text as paid_in
      from events group by 1, 2
    ), tables as materialized (
      select odds_hash, (
        select array_agg(up_to order by number) from (
          select number, sum((line->>'weight')::bigint) over (order by number) as up_to
          from jsonb_array_elements(odds::jsonb) with ordinality as l (line, number)
        ) lines
      ) as up_to
      from odds_tables where odds_hash in (select odds_hash from sends)
    ), draws as (
      select t.odds_hash, width_bucket((d.draw->>'r')::numeric, t.up_to) as place, count(*) as draws,
             sum((d.draw->>'reward')::numeric)::text as won
      from events e
      join tables t on t.odds_hash = e.data->>'odds_hash'
      cross join lateral jsonb_array_elements(e.data->'draws') as d (draw)
      where e.type = 'gift-drawn' group by 1, 2
    )
    select s.*, (
      select json_agg(json_build_object('place', d.place, 'draws', d.draws, 'won', d.won))
      from draws d where d.odds_hash = s.odds_hash
    ) as rows
    from sends s`.execute(db)
  return rows.map(({ decoration_id, odds_hash, sends, paid_in, rows: drawnRows }) => {
    const places = new Map(drawnRows?.map(({ place, draws }) => [place, draws]))
    return {
      decoration_id,
      odds_hash,
      sends,
      paidIn: BigInt(paid_in),
      paidOut: (drawnRows ?? []).reduce((total, { won }) => total + BigInt(won), 0n),
      drawn: Array.from({ length: Math.max(-1, ...places.keys()) + 1 }, (_, place) => places.get(place) ?? 0),
    }
  })
}

function sum(all: readonly GiftCounts[]): readonly GiftCounts[] {
  const byVersion = new Map<string, GiftCounts>()
  for (const counts of all) {
    const key = `${counts.decoration_id} ${counts.odds_hash}`
    const before = byVersion.get(key)
    byVersion.set(key, before === undefined ? counts : add(before, counts))
  }
  return [...byVersion.values()]
}

const add = (a: GiftCounts, b: GiftCounts): GiftCounts => ({
  ...a,
  sends: a.sends + b.sends,
  paidIn: a.paidIn + b.paidIn,
  paidOut: a.paidOut + b.paidOut,
  drawn: Array.from(
    { length: Math.max(a.drawn.length, b.drawn.length) },
    (_, i) => (a.drawn[i] ?? 0) + (b.drawn[i] ?? 0),
  ),
})
