import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import { lastPositionUntil } from '../../ledger/indexes/last-position-until.ts'
import { eventsAfter, eventsAt } from '../../ledger/storage/stored-event.ts'
import type { ChannelKey, EventMapper } from '../frames/frame-mapper.ts'
import type { ProfileCache } from '../frames/profile-cache.ts'
import type { TimeSlice } from '../time-slice.ts'
import { type ChannelIndex, type IndexEntry, MAX_BACKLOG_AGE_MS, MAX_BACKLOG_MESSAGES } from './channel-index.ts'
import { type ChannelMessage, channelMessage, messageSize } from './channel-message.ts'
import { MAX_RECENT_MESSAGES, type RecentMessage, type RecentMessages } from './recent-messages.ts'

/** Characters of one backlog: as much as may be unsent of a backlog. */
const MAX_BACKLOG_CHARACTERS = 8 * 1024 * 1024
/** Characters of backlogs that are read together; beyond them no further one is begun. */
const MAX_CHARACTERS_PER_READ = 2 * MAX_BACKLOG_CHARACTERS
/** Events that are read, and taken from JSON, at a time. One may be a gift to a hundred receivers. */
const PAGE_EVENTS = 25

/** The messages of a channel that can be sent again. */
export interface Backlog {
  /** All messages after this position are included. */
  readonly from: number
  readonly messages: readonly ChannelMessage[]
}

/**
 * Reads the messages of channels by the index. What is not indexed yet the hub remembers; events from before it began are
 * searched one by one, and remembered from then on.
 */
export class BacklogReader {
  readonly #pool: Pool
  readonly #db: Kysely<Tables>
  readonly #index: ChannelIndex
  readonly #mapEvent: EventMapper
  readonly #profiles: ProfileCache
  readonly #timeSlice: Pick<TimeSlice, 'turn'>

  constructor(
    pool: Pool,
    index: ChannelIndex,
    mapEvent: EventMapper,
    profiles: ProfileCache,
    timeSlice: Pick<TimeSlice, 'turn'>,
  ) {
    this.#pool = pool
    this.#db = queryBuilder(pool)
    this.#index = index
    this.#mapEvent = mapEvent
    this.#profiles = profiles
    this.#timeSlice = timeSlice
  }

  /** The last position of each channel before this one; null for a channel without messages. */
  async lastBefore(
    channels: readonly ChannelKey[],
    position: number,
    recent: RecentMessages,
  ): Promise<ReadonlyMap<ChannelKey, number | null>> {
    const { upTo, positions } = await this.#index.lastBefore(channels, position)
    // Without a turn: all frames of the instance wait for it.
    for await (const found of this.#messagesBetween(upTo, position - 1, new Set(channels), recent, null)) {
      positions.set(found.channel, found.position)
    }
    return new Map(channels.map((channel) => [channel, positions.get(channel) ?? null]))
  }

  /**
   * The backlogs of these channels up to a position: of as many as fit into one read, at least of the first; the others
   * are missing.
   */
  async read(
    requested: readonly ChannelKey[],
    position: number,
    recent: RecentMessages,
  ): Promise<ReadonlyMap<ChannelKey, Backlog>> {
    const since = (Date.now() - MAX_BACKLOG_AGE_MS) * 1000
    const first = (await lastPositionUntil(this.#db, since, position)) + 1
    const { upTo, positions: lastPositions } = await this.#index.lastBefore(requested, position + 1)
    const indexed = await this.#index.newestEntries(requested, first, Math.min(upTo, position))
    const entries = new Map([...indexed].map(([channel, list]) => [channel, [...list]]))
    const channels = new Set(indexed.keys())
    for await (const found of this.#messagesBetween(upTo, position, channels, recent, this.#timeSlice)) {
      const { channel } = found
      const list = entries.get(channel) ?? []
      if (found.position >= first) list.push({ position: found.position, prev: lastPositions.get(channel) ?? null })
      lastPositions.set(channel, found.position)
      if (list.length >= 2 * MAX_BACKLOG_MESSAGES) list.splice(0, list.length - MAX_BACKLOG_MESSAGES)
    }
    for (const [channel, list] of entries) entries.set(channel, list.slice(-MAX_BACKLOG_MESSAGES))
    const messages = await this.#buildMessages(entries)
    return new Map(
      [...messages].map(([channel, list]) => {
        const [oldest] = list
        const from = (oldest === undefined ? lastPositions.get(channel) : oldest.prev) ?? 0
        return [channel, { from, messages: list }]
      }),
    )
  }

  /**
   * Builds the messages of these entries page by page, newest first, until a channel's limit is reached. Channels that
   * were not begun before the limit of all are missing.
   */
  async #buildMessages(
    entries: ReadonlyMap<ChannelKey, readonly IndexEntry[]>,
  ): Promise<ReadonlyMap<ChannelKey, readonly ChannelMessage[]>> {
    const pending = [...entries].flatMap(([channel, list]) => list.toReversed().map((entry) => ({ channel, entry })))
    const newestFirst = new Map<ChannelKey, ChannelMessage[]>()
    for (const [channel, list] of entries) if (list.length === 0) newestFirst.set(channel, [])
    const characters = new Map<ChannelKey, number>()
    let totalCharacters = 0
    const isFull = (channel: ChannelKey): boolean => (characters.get(channel) ?? 0) > MAX_BACKLOG_CHARACTERS
    const isWanted = (channel: ChannelKey): boolean =>
      newestFirst.has(channel) ? !isFull(channel) : totalCharacters <= MAX_CHARACTERS_PER_READ
    for (let at = 0; at < pending.length; ) {
      const page: typeof pending = []
      for (; at < pending.length && page.length < PAGE_EVENTS; at += 1) {
        const next = pending[at]
        if (next === undefined || !isWanted(next.channel)) continue
        if (!newestFirst.has(next.channel)) newestFirst.set(next.channel, [])
        page.push(next)
      }
      for (const { channel, message } of await this.#messagesOf(page)) {
        if (isFull(channel)) continue
        const size = messageSize(message)
        characters.set(channel, (characters.get(channel) ?? 0) + size)
        totalCharacters += size
        newestFirst.get(channel)?.push(message)
      }
    }
    return new Map([...newestFirst].map(([channel, list]) => [channel, list.toReversed()]))
  }

  async #messagesOf(
    page: readonly { readonly channel: ChannelKey; readonly entry: IndexEntry }[],
  ): Promise<readonly { readonly channel: ChannelKey; readonly message: ChannelMessage }[]> {
    const positions = [...new Set(page.map(({ entry }) => entry.position))]
    const found = await eventsAt(this.#pool, positions)
    await this.#timeSlice.turn()
    const events = new Map(found.map((event) => [event.position, event]))
    const parts = page.flatMap(({ channel, entry }) => {
      const event = events.get(entry.position)
      if (event === undefined) return []
      return [
        { channel, entry: { ...entry, at: event.at / 1000 }, templates: this.#mapEvent(event).get(channel) ?? [] },
      ]
    })
    const profiles = await this.#profiles.get(
      parts.flatMap(({ templates }) => templates.map(({ requiredIds }) => requiredIds)),
    )
    return parts.map(({ channel, entry, templates }) => ({
      channel,
      message: channelMessage(entry, templates, profiles),
    }))
  }

  /** The messages in (`after`, `upTo`] on these channels, in order: those that are not known are searched, page by page. */
  async *#messagesBetween(
    after: number,
    upTo: number,
    channels: ReadonlySet<ChannelKey>,
    recent: RecentMessages,
    timeSlice: Pick<TimeSlice, 'turn'> | null,
  ): AsyncGenerator<{ readonly channel: ChannelKey; readonly position: number }> {
    // Both at once: meanwhile some may be forgotten.
    const end = Math.min(recent.from, upTo)
    const known = recent.after(Math.max(after, end))
    const found: RecentMessage[] = []
    const isRemembered = end - after <= MAX_RECENT_MESSAGES
    for (let at = after; at < end; ) {
      const events = await eventsAfter(this.#pool, at, Math.min(PAGE_EVENTS, end - at))
      await timeSlice?.turn()
      for (const event of events) {
        const message = { position: event.position, channels: [...this.#mapEvent(event).keys()] }
        if (isRemembered && message.channels.length > 0) found.push(message)
        yield* placesIn(message, channels)
      }
      at = events.at(-1)?.position ?? end
    }
    if (isRemembered && after < end) recent.extend(after, end, found)
    for (const message of known) if (message.position <= upTo) yield* placesIn(message, channels)
  }
}

const placesIn = ({ position, channels }: RecentMessage, wanted: ReadonlySet<ChannelKey>) =>
  channels.filter((channel) => wanted.has(channel)).map((channel) => ({ channel, position }))
