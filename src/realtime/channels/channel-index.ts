import { setTimeout } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { deleteOlderRows } from '../../db/queries/delete-older-rows.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { eventsWith, type FoundEvent, readIndexed, readLast } from '../../ledger/indexes/index-reads.ts'
import { factTerm, roomKindOf, type Term } from '../../ledger/indexes/index-terms.ts'
import type { DurableSubscriber } from '../../ledger/subscriptions/tail.ts'
import { type ChannelKey, type EventMapper, roomIdOf } from '../frames/frame-mapper.ts'

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

/** Events of which one query tells whether they are messages, about, and of each room. */
const MAX_POSITIONS_PER_QUERY = 2_000
const MAX_EVENTS_OF_ROOM = 250

/**
 * The positions of each channel's messages, for all instances: those of rooms by the index of the ledger, as each gift is
 * one, and those of the other channels, which are rare, in a table that follows the ledger closely.
 */
export class ChannelIndex {
  readonly #pool: Pool
  readonly #db: Kysely<Tables>
  readonly #mapEvent: EventMapper
  /** Terms of a room by which its messages are found. */
  readonly #kinds: readonly ReturnType<typeof roomKindOf>[]

  constructor(pool: Pool, mapEvent: EventMapper) {
    this.#pool = pool
    this.#db = queryBuilder(pool)
    this.#mapEvent = mapEvent
    this.#kinds = [...new Set(mapEvent.types.map(roomKindOf))]
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
    const [rooms, others] = splitRooms(channels)
    const indexed = rooms.size === 0 ? null : await readIndexed(this.#db)
    const before = indexed === null ? position : Math.min(position, indexed + 1)
    const stored = others.length === 0 ? null : await this.#lastStored(others, before)
    const upTo = Math.min(indexed ?? Number.MAX_SAFE_INTEGER, stored?.upTo ?? Number.MAX_SAFE_INTEGER)
    const positions = stored?.positions ?? new Map<ChannelKey, number>()
    for (const [room, { position }] of await this.#lastOfRooms([...rooms.keys()], Math.min(before - 1, upTo))) {
      const channel = rooms.get(room)
      if (channel !== undefined) positions.set(channel, position)
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
   * The newest entries of these channels up to a position and since a time, oldest first. Reads as many channels as fit
   * into one read, at least the first; the others are missing.
   */
  async newestEntries(
    channels: readonly ChannelKey[],
    upTo: number,
    since: number,
  ): Promise<ReadonlyMap<ChannelKey, readonly IndexEntry[]>> {
    const [rooms, others] = splitRooms(channels)
    const found = new Map(others.length === 0 ? [] : await this.#newestStored(others, upTo, since))
    for (const [room, entries] of await this.#newestOfRooms([...rooms.keys()], upTo, since)) {
      const channel = rooms.get(room)
      if (channel !== undefined) found.set(channel, entries)
    }
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

  /**
   * The last message of each room up to a position; rooms without one are missing. The last event under a term is a message,
   * but for types of events that have no frames.
   */
  async #lastOfRooms(rooms: readonly number[], upTo: number): Promise<ReadonlyMap<number, Message>> {
    const last = new Map<number, Message>()
    for (let rest = [...rooms].map((room) => ({ room, upTo })); rest.length > 0; ) {
      const end = Math.max(...rest.map((one) => one.upTo))
      const asked = rest.filter((one) => one.upTo === end)
      const found = await readLast(
        this.#db,
        asked.flatMap(({ room }) => this.#termsOf(room)),
        end,
      )
      const latest = new Map(
        asked.map(({ room }) => [room, Math.max(0, ...this.#termsOf(room).map((term) => found.get(term) ?? 0))]),
      )
      const times = await this.#messagesAmong([...new Set(latest.values())])
      const others = rest.filter((one) => one.upTo !== end)
      for (const [room, position] of latest) {
        const at = times.get(position)
        if (at !== undefined) last.set(room, { position, at })
        else if (position > 0) others.push({ room, upTo: position - 1 })
      }
      rest = others
    }
    return last
  }

  readonly #termsOf = (room: number): readonly Term[] => this.#kinds.map((kind) => factTerm(kind, room))

  /** The newest messages of rooms up to a position and since a time, oldest first: by the events that name the room. */
  async #newestOfRooms(
    rooms: readonly number[],
    last: number,
    since: number,
  ): Promise<ReadonlyMap<number, readonly IndexEntry[]>> {
    const found = new Map(rooms.map((room): [number, Entry[]] => [room, []]))
    // Most rooms of those who come back are quiet.
    const lasts = await this.#lastOfRooms(rooms, last)
    let open = rooms.filter((room) => (lasts.get(room)?.at ?? 0) >= since)
    for (let upTo = last; open.length > 0 && upTo > 0; ) {
      const terms = new Map(open.flatMap((room) => this.#termsOf(room).map((term) => [term, room])))
      const { value } = await eventsWith(this.#db, [...terms.keys()], { first: 1, last: upTo }, 'newest').next()
      if (value === undefined) break
      upTo = value.searched - 1
      const candidates = Map.groupBy(value.events, ({ term }) => terms.get(term) ?? 0)
      const silent = open.filter((room) => !candidates.has(room))
      const closed = new Set<number>()
      const add = (room: number, { position, at }: Message): void => {
        const entries = found.get(room) ?? []
        const newer = entries[0]
        if (newer !== undefined) newer.prev = position
        if (at < since || entries.length === MAX_BACKLOG_MESSAGES) closed.add(room)
        else entries.unshift({ position, prev: null, at })
      }
      // Rooms share queries. Most events that name a room are messages.
      for (let next = takeNext(candidates, closed); next.length > 0; next = takeNext(candidates, closed)) {
        const times = await this.#messagesAmong([...new Set(next.map(({ position }) => position))])
        for (const { room, position } of next) {
          const at = times.get(position)
          if (at !== undefined && !closed.has(room)) add(room, { position, at })
        }
      }
      const before = silent.length === 0 ? new Map<number, Message>() : await this.#lastOfRooms(silent, upTo)
      for (const room of silent) {
        const message = before.get(room)
        if (message === undefined) closed.add(room)
        else if (message.at < since) add(room, message)
      }
      open = open.filter((room) => !closed.has(room))
    }
    return found
  }

  /** When those of these events were that are messages. */
  async #messagesAmong(positions: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const { rows } = await this.#pool.query<{ position: number; at: number }>({
      name: 'messages among events',
      text: `select position, floor(extract(epoch from at) * 1000)::bigint as at from ledger_events
             where position = any ($1::bigint[]) and type = any ($2::text[])`,
      values: [positions, this.#mapEvent.types],
    })
    return new Map(rows.map(({ position, at }) => [position, at]))
  }

  /** Deletes rows past their retention. Several instances may do so at once. */
  prune(): Promise<void> {
    return deleteOlderRows(this.#pool, 'live_announcements', INDEX_RETENTION)
  }
}

type Message = Pick<IndexEntry, 'position' | 'at'>
type Entry = { -readonly [Name in keyof IndexEntry]: IndexEntry[Name] }

function splitRooms(channels: readonly ChannelKey[]): [rooms: ReadonlyMap<number, ChannelKey>, others: ChannelKey[]] {
  const rooms = new Map<number, ChannelKey>()
  const others: ChannelKey[] = []
  for (const channel of channels) {
    const room = roomIdOf(channel)
    if (room === null) others.push(channel)
    else rooms.set(room, channel)
  }
  return [rooms, others]
}

/** Takes the next events of each room that is not closed, newest first: of all of them about as many as fit into a query. */
function takeNext(
  candidates: Map<number, FoundEvent[]>,
  closed: ReadonlySet<number>,
): readonly { readonly room: number; readonly position: number }[] {
  const next: { room: number; position: number }[] = []
  for (const [room, events] of candidates) {
    if (next.length >= MAX_POSITIONS_PER_QUERY) break
    if (closed.has(room)) continue
    for (const { position } of events.splice(0, MAX_EVENTS_OF_ROOM)) next.push({ room, position })
  }
  return next
}
