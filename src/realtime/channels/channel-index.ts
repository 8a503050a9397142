import { setTimeout } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { deleteOlderRows } from '../../db/queries/delete-older-rows.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { eventsWith, readIndexed, readLast } from '../../ledger/indexes/index-reads.ts'
import { factTerm, type Term } from '../../ledger/indexes/index-terms.ts'
import type { DurableSubscriber } from '../../ledger/subscriptions/tail.ts'
import { type ChannelKey, type EventMapper, roomIdOf } from '../frames/frame-mapper.ts'

/** The name of the subscription's cursor in `ledger_cursors`. */
export const INDEX_CURSOR = 'live'
/** A channel's backlog: its newest messages, up to this number and age. */
export const MAX_BACKLOG_MESSAGES = 1_000
export const MAX_BACKLOG_AGE_MS = 600_000
/** Entries that are read together: parsing them occupies the event loop. */
const MAX_ENTRIES_PER_READ = 16 * MAX_BACKLOG_MESSAGES
/** Rooms whose entries are read together: finding them occupies the event loop, too. */
const MAX_ROOMS_PER_QUERY = 8
/** Rows are kept for longer than a backlog reaches back, since clocks differ. */
const INDEX_RETENTION = '12 minutes'
/** Pause between two writes. An instance that has just begun searches the ledger after them, the longer the pause the more. */
const MIN_WRITE_INTERVAL_MS = 50
/** A batch of this size is worth its own commit; smaller ones wait for more events. */
const LARGE_BATCH_EVENTS = 250

/** A message's place in its channel. */
export interface IndexEntry {
  readonly position: number
  /** The position of the channel's previous message; null for its first. */
  readonly prev: number | null
}

/** The last positions of some channels before some position, as far as they are indexed. */
export interface LastPositions {
  /** The last position that is indexed; later messages are not counted. */
  readonly upTo: number
  /** Channels without a message are missing. */
  readonly positions: Map<ChannelKey, number>
}

/**
 * The positions of each channel's messages, for all instances. A room's are the events that the index of the ledger has under
 * it, such as gifts; the other channels have few, which are in a table that follows the ledger closely.
 */
export class ChannelIndex {
  readonly #pool: Pool
  readonly #db: Kysely<Tables>
  readonly #mapEvent: EventMapper

  constructor(pool: Pool, mapEvent: EventMapper) {
    this.#pool = pool
    this.#db = queryBuilder(pool)
    this.#mapEvent = mapEvent
  }

  /** Stores the messages of channels other than rooms. Storing an event twice changes nothing. */
  subscriber(): DurableSubscriber {
    return async (events) => {
      const entries = events.flatMap((event) =>
        [...this.#mapEvent(event).keys()]
          .filter((channel) => roomIdOf(channel) === null)
          .map((channel) => ({ channel, position: event.position, at: Math.floor(event.at / 1000) })),
      )
      const [first] = entries
      if (first === undefined) return false
      const channels = [...new Set(entries.map(({ channel }) => channel))]
      const { positions } = await this.#lastStored(channels, first.position)
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

  async #add(rows: readonly StoredEntry[]): Promise<void> {
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
    const [rooms, others] = splitRooms(channels)
    const indexed = rooms.size === 0 ? null : await readIndexed(this.#db)
    const before = indexed === null ? position : Math.min(position, indexed + 1)
    const stored = others.length === 0 ? null : await this.#lastStored(others, before)
    const upTo = Math.min(indexed ?? Number.MAX_SAFE_INTEGER, stored?.upTo ?? Number.MAX_SAFE_INTEGER)
    const positions = stored?.positions ?? new Map<ChannelKey, number>()
    for (const [term, last] of await readLast(this.#db, [...rooms.keys()], Math.min(before - 1, upTo))) {
      const channel = rooms.get(term)
      if (channel !== undefined) positions.set(channel, last)
    }
    return { upTo, positions }
  }

  /** `lastBefore` of channels that are stored. */
  async #lastStored(channels: readonly ChannelKey[], position: number): Promise<LastPositions> {
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
   * The newest entries of these channels from a position up to another, oldest first. Reads as many channels as fit into one
   * read, at least the first; the others are missing.
   */
  async newestEntries(
    channels: readonly ChannelKey[],
    first: number,
    last: number,
  ): Promise<ReadonlyMap<ChannelKey, readonly IndexEntry[]>> {
    const [rooms, others] = splitRooms(channels)
    const found = new Map([
      ...(others.length === 0 ? [] : await this.#newestStored(others, first, last)),
      ...(rooms.size === 0 ? [] : await this.#newestOfRooms(rooms, first, last)),
    ])
    const cut = channels.findIndex((channel) => !found.has(channel))
    const whole = cut === -1 ? channels : channels.slice(0, cut)
    let count = 0
    return new Map(
      whole.flatMap((channel, i): [ChannelKey, readonly IndexEntry[]][] => {
        const entries = found.get(channel) ?? []
        count += entries.length
        return i === 0 || count <= MAX_ENTRIES_PER_READ ? [[channel, entries]] : []
      }),
    )
  }

  /** `newestEntries` of channels that are stored. */
  async #newestStored(
    channels: readonly ChannelKey[],
    first: number,
    last: number,
  ): Promise<ReadonlyMap<ChannelKey, readonly IndexEntry[]>> {
    const { rows } = await this.#pool.query<IndexEntry & { readonly channel: ChannelKey }>({
      name: 'newest channel entries',
      text: `select a.channel, l.position, l.prev
             from unnest($1::text[]) with ordinality as a (channel, place)
             cross join lateral (
               select position, prev from live_announcements
               where channel = a.channel and position between $2 and $3
               order by position desc limit ${MAX_BACKLOG_MESSAGES}
             ) l order by a.place, l.position limit ${MAX_ENTRIES_PER_READ}`,
      values: [channels, first, last],
    })
    const entries = Map.groupBy(rows, ({ channel }) => channel)
    // More rows of the last channel may have been cut off.
    const cut = rows.length < MAX_ENTRIES_PER_READ ? undefined : rows.at(-1)
    const whole = cut === undefined ? channels : channels.slice(0, channels.indexOf(cut.channel))
    return new Map(whole.map((channel) => [channel, entries.get(channel) ?? []]))
  }

  /** `newestEntries` of rooms. */
  async #newestOfRooms(
    rooms: ReadonlyMap<Term, ChannelKey>,
    first: number,
    last: number,
  ): Promise<ReadonlyMap<ChannelKey, readonly IndexEntry[]>> {
    // Most rooms of those who come back are quiet.
    const lastPositions = await readLast(this.#db, [...rooms.keys()], last)
    const active = [...rooms].filter(([term]) => (lastPositions.get(term) ?? 0) >= first)
    const missing = new Set(active.map(([, channel]) => channel))
    const found = new Map<ChannelKey, readonly IndexEntry[]>()
    for (const channel of rooms.values()) if (!missing.has(channel)) found.set(channel, [])
    let count = 0
    for (let i = 0; i < active.length && count < MAX_ENTRIES_PER_READ; i += MAX_ROOMS_PER_QUERY) {
      const some = new Map(active.slice(i, i + MAX_ROOMS_PER_QUERY))
      for (const [term, entries] of await this.#newestUnder([...some.keys()], first, last)) {
        const channel = some.get(term)
        if (channel !== undefined) found.set(channel, entries)
        count += entries.length
      }
    }
    return found
  }

  /** The newest entries under these terms in a range of positions, oldest first. */
  async #newestUnder(
    terms: readonly Term[],
    first: number,
    last: number,
  ): Promise<ReadonlyMap<Term, readonly IndexEntry[]>> {
    /** Newest first; the one before the oldest entry of a backlog is its `prev`. */
    const found = new Map(terms.map((term): [Term, number[]] => [term, []]))
    let open = terms
    for (let upTo = last; open.length > 0 && upTo >= first; ) {
      const { value: part } = await eventsWith(this.#db, open, { first, last: upTo }, 'newest').next()
      for (const { term, position } of part?.events ?? []) found.get(term)?.push(position)
      open = open.filter((term) => (found.get(term)?.length ?? 0) <= MAX_BACKLOG_MESSAGES)
      upTo = (part?.searched ?? first) - 1
    }
    const earlier = await readLast(this.#db, open, first - 1)
    return new Map(
      [...found].map(([term, positions]) => {
        const entries = positions
          .slice(0, MAX_BACKLOG_MESSAGES)
          .map((position, i) => ({ position, prev: positions[i + 1] ?? earlier.get(term) ?? null }))
        return [term, entries.toReversed()]
      }),
    )
  }

  /** Deletes rows past their retention. Several instances may do so at once. */
  prune(): Promise<void> {
    return deleteOlderRows(this.#pool, 'live_announcements', INDEX_RETENTION)
  }
}

interface StoredEntry extends IndexEntry {
  readonly channel: ChannelKey
  /** Milliseconds since 1970. */
  readonly at: number
}

function splitRooms(channels: readonly ChannelKey[]): [rooms: ReadonlyMap<Term, ChannelKey>, others: ChannelKey[]] {
  const rooms = new Map<Term, ChannelKey>()
  const others: ChannelKey[] = []
  for (const channel of channels) {
    const room = roomIdOf(channel)
    if (room === null) others.push(channel)
    else rooms.set(factTerm('room', room), channel)
  }
  return [rooms, others]
}
