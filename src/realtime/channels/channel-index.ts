import { setTimeout } from 'node:timers/promises'
import type { Pool } from 'pg'
import { deleteOlderRows } from '../../db/queries/delete-older-rows.ts'
import type { DurableSubscriber } from '../../ledger/subscriptions/tail.ts'
import type { ChannelKey, EventMapper } from '../frames/frame-mapper.ts'

/** The name of the subscription's cursor in `ledger_cursors`. */
export const INDEX_CURSOR = 'live'
/** A channel's backlog: its newest messages, up to this number and age. */
export const MAX_BACKLOG_MESSAGES = 1_000
export const MAX_BACKLOG_AGE_MS = 600_000
/** Entries that are read together: parsing them occupies the event loop. */
const MAX_ENTRIES_PER_READ = 16 * MAX_BACKLOG_MESSAGES
/** Rows are kept for longer than a backlog reaches back, since clocks differ. */
const INDEX_RETENTION = '12 minutes'
/** Pause between two writes. Readers scan the ledger after the index, which takes longer the longer the pause is. */
const MIN_WRITE_INTERVAL_MS = 50
/** A batch of this size is worth its own commit; smaller ones wait for more events. */
const LARGE_BATCH_EVENTS = 250

/** A message's place in its channel; `at` in milliseconds since 1970. */
export interface IndexEntry {
  readonly position: number
  /** The position of the channel's previous message; null for its first. */
  readonly prev: number | null
  readonly at: number
}

/** The last positions of some channels before some position, as far as they are indexed. */
export interface LastPositions {
  /** The last position that is indexed; later messages are not counted. */
  readonly upTo: number
  /** Channels without a message are missing. */
  readonly positions: Map<ChannelKey, number>
}

/** The positions of each channel's messages, in a table for all instances that follows the ledger closely. */
export class ChannelIndex {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Indexes committed events. Indexing an event twice changes nothing. */
  subscriber(mapEvent: EventMapper): DurableSubscriber {
    return async (events) => {
      const entries = events.flatMap((event) =>
        [...mapEvent(event).keys()].map((channel) => ({
          channel,
          position: event.position,
          at: Math.floor(event.at / 1000),
        })),
      )
      const [first] = entries
      if (first === undefined) return false
      const channels = [...new Set(entries.map(({ channel }) => channel))]
      const { positions } = await this.lastBefore(channels, first.position)
      const rows = entries.map((entry) => {
        const prev = positions.get(entry.channel) ?? null
        positions.set(entry.channel, entry.position)
        return { ...entry, prev }
      })
      await this.#add(rows)
      // Each write is a commit that competes with the ledger's; when far behind, there is no pause.
      if (events.length < LARGE_BATCH_EVENTS) await setTimeout(MIN_WRITE_INTERVAL_MS)
      return true
    }
  }

  async #add(rows: readonly (IndexEntry & { readonly channel: ChannelKey })[]): Promise<void> {
    await this.#pool.query({
      name: 'add channel index entries',
      text: `with added as (
               insert into live_announcements (channel, position, prev, at)
               select a.channel, a.position, a.prev, to_timestamp(a.at / 1000.0)
               from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) as a (channel, position, prev, at)
               on conflict do nothing
             )
             insert into live_channels as c (channel, last)
             select a.channel, max(a.position) from unnest($1::text[], $2::bigint[]) as a (channel, position)
             group by a.channel order by a.channel
             on conflict (channel) do update set last = excluded.last where c.last < excluded.last`,
      values: [
        rows.map(({ channel }) => channel),
        rows.map(({ position }) => position),
        rows.map(({ prev }) => prev),
        rows.map(({ at }) => at),
      ],
    })
  }

  /** The last position of each of these channels before this one, as far as it is indexed. */
  async lastBefore(channels: readonly ChannelKey[], position: number): Promise<LastPositions> {
    const { rows } = await this.#pool.query<{ channel: ChannelKey | null; last: number | null; up_to: number }>({
      name: 'last channel positions',
      // The first row at or after the position knows its predecessor; without one, it is the channel's last position.
      text: `select a.channel, p.up_to,
               case when later.position is not null then later.prev when c.last < p.position then c.last end as last
             from (select f.up_to, least($2, f.up_to + 1) as position
                   from (select coalesce(max(position), 0) as up_to
                         from ledger_cursors where name = '${INDEX_CURSOR}') f) p
             left join unnest($1::text[]) as a (channel) on true
             left join live_channels c on c.channel = a.channel
             left join lateral (
               select l.position, l.prev from live_announcements l
               where l.channel = a.channel and l.position >= p.position order by l.position limit 1
             ) later on true`,
      values: [channels, position],
    })
    const positions = new Map<ChannelKey, number>()
    for (const { channel, last } of rows) if (channel !== null && last !== null) positions.set(channel, last)
    return { upTo: rows[0]?.up_to ?? 0, positions }
  }

  /**
   * The newest entries of these channels up to a position and since a time, oldest first. Reads as many channels as fit
   * into one read, at least the first; the others are missing.
   */
  async newestEntries(
    channels: readonly ChannelKey[],
    upTo: number,
    since: number,
  ): Promise<ReadonlyMap<ChannelKey, readonly IndexEntry[]>> {
    const { rows } = await this.#pool.query<IndexEntry & { readonly channel: ChannelKey }>({
      name: 'newest channel entries',
      text: `select a.channel, l.position, l.prev, l.at
             from unnest($1::text[]) with ordinality as a (channel, place)
             cross join lateral (
               select position, prev, floor(extract(epoch from at) * 1000)::bigint as at from live_announcements
               where channel = a.channel and position <= $2 and at >= to_timestamp($3::bigint / 1000.0)
               order by position desc limit ${MAX_BACKLOG_MESSAGES}
             ) l order by a.place, l.position limit ${MAX_ENTRIES_PER_READ}`,
      values: [channels, upTo, since],
    })
    const entries = Map.groupBy(rows, ({ channel }) => channel)
    // More rows of the last channel may have been cut off.
    const last = rows.length < MAX_ENTRIES_PER_READ ? undefined : rows.at(-1)
    const whole = last === undefined ? channels : channels.slice(0, channels.indexOf(last.channel))
    return new Map(whole.map((channel) => [channel, entries.get(channel) ?? []]))
  }

  /** Deletes rows past their retention. Several instances may do so at once. */
  prune(): Promise<void> {
    return deleteOlderRows(this.#pool, 'live_announcements', INDEX_RETENTION)
  }
}
