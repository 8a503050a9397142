import type { Pool } from 'pg'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import { eventsAfter, eventsAt } from '../../ledger/storage/read-events.ts'
import type { EventMapper } from '../frames/event-mapper.ts'
import type { ChannelKey } from '../frames/frame-mapper.ts'
import type { ProfileCache } from '../frames/profile-cache.ts'
import { type ChannelIndex, type IndexEntry, MAX_BACKLOG_AGE_MS, MAX_BACKLOG_MESSAGES } from './channel-index.ts'
import { type ChannelMessage, channelMessage, messageSize } from './channel-message.ts'

/** Events that are read at a time of what the index does not have yet. */
const MAX_PAGE_EVENTS = 100
/**
 * Events that are read at a time to make entries of them: as many as come to about so many characters. An event may be
 * a gift to a hundred receivers, and reading 250 of those holds the event loop for 40 ms.
 */
const MAX_PAGE_MESSAGES = 250
const MAX_PAGE_CHARACTERS = 128 * 1024
/** What an entry is taken for as long as none of its channel has been read. */
const ASSUMED_MESSAGE_CHARACTERS = 8 * 1024
/** Characters of a channel that are brought back: as much as a client may have unsent of what it asked for. */
const MAX_BACKLOG_CHARACTERS = 8 * 1024 * 1024

/** What can be brought back of a channel. */
export interface Backlog {
  /** Everything after this position is here. */
  readonly from: number
  readonly messages: readonly ChannelMessage[]
}

/** What was announced before, from the index and, for what it does not have yet, from the ledger itself. */
export class BacklogReader {
  readonly #pool: Pool
  readonly #index: ChannelIndex
  readonly #mapEvent: EventMapper
  readonly #profiles: ProfileCache

  constructor(pool: Pool, index: ChannelIndex, mapEvent: EventMapper, profiles: ProfileCache) {
    this.#pool = pool
    this.#index = index
    this.#mapEvent = mapEvent
    this.#profiles = profiles
  }

  /** The last position of each channel before this one; null for a channel that has none. */
  async lastBefore(channels: readonly ChannelKey[], position: number): Promise<ReadonlyMap<ChannelKey, number | null>> {
    const { upTo, positions } = await this.#index.lastBefore(channels, position)
    const wanted = new Set(channels)
    for await (const { channel, event } of this.#eventsBetween(upTo, position - 1, wanted)) {
      positions.set(channel, event.position)
    }
    return new Map(channels.map((channel) => [channel, positions.get(channel) ?? null]))
  }

  /** What can be brought back of these channels up to a position. */
  async read(channels: readonly ChannelKey[], position: number): Promise<ReadonlyMap<ChannelKey, Backlog>> {
    const since = Date.now() - MAX_BACKLOG_AGE_MS
    const { upTo, positions: lastPositions } = await this.#index.lastBefore(channels, position + 1)
    const indexed = await this.#index.newestEntries(channels, Math.min(upTo, position), since)
    const entries = new Map(channels.map((channel) => [channel, [...(indexed.get(channel) ?? [])]]))
    for await (const { channel, event } of this.#eventsBetween(upTo, position, new Set(channels))) {
      const list = entries.get(channel) ?? []
      list.push({ position: event.position, prev: lastPositions.get(channel) ?? null, at: event.at / 1000 })
      lastPositions.set(channel, event.position)
      if (list.length >= 2 * MAX_BACKLOG_MESSAGES) list.splice(0, list.length - MAX_BACKLOG_MESSAGES)
    }
    for (const [channel, list] of entries) {
      entries.set(channel, list.filter(({ at }) => at >= since).slice(-MAX_BACKLOG_MESSAGES))
    }
    const messages = await this.#loadMessages(entries)
    return new Map(
      channels.map((channel) => {
        const list = messages.get(channel) ?? []
        const [oldest] = list
        return [
          channel,
          { from: (oldest === undefined ? lastPositions.get(channel) : oldest.prev) ?? 0, messages: list },
        ]
      }),
    )
  }

  /** The newest entries of each channel, a bounded number of events at a time. */
  async #loadMessages(
    entries: ReadonlyMap<ChannelKey, readonly IndexEntry[]>,
  ): Promise<ReadonlyMap<ChannelKey, readonly ChannelMessage[]>> {
    const entriesNewestFirst = [...entries].flatMap(([channel, list]) =>
      list.toReversed().map((place) => ({ channel, place })),
    )
    const newestFirst = new Map<ChannelKey, ChannelMessage[]>()
    const characters = new Map<ChannelKey, number>()
    const isFull = (channel: ChannelKey): boolean => (characters.get(channel) ?? 0) > MAX_BACKLOG_CHARACTERS
    const expectedOf = (channel: ChannelKey): number => {
      const read = newestFirst.get(channel)?.length
      return read === undefined ? ASSUMED_MESSAGE_CHARACTERS : (characters.get(channel) ?? 0) / read
    }
    for (let at = 0; at < entriesNewestFirst.length; ) {
      const page: typeof entriesNewestFirst = []
      let expected = 0
      for (; at < entriesNewestFirst.length && page.length < MAX_PAGE_MESSAGES; at += 1) {
        const next = entriesNewestFirst[at]
        if (next === undefined || isFull(next.channel)) continue
        expected += expectedOf(next.channel)
        if (page.length > 0 && expected > MAX_PAGE_CHARACTERS) break
        page.push(next)
      }
      for (const { channel, entry } of await this.#messagesOf(page)) {
        if (isFull(channel)) continue
        characters.set(channel, (characters.get(channel) ?? 0) + messageSize(entry))
        const list = newestFirst.get(channel)
        if (list === undefined) newestFirst.set(channel, [entry])
        else list.push(entry)
      }
    }
    return new Map([...newestFirst].map(([channel, list]) => [channel, list.toReversed()]))
  }

  async #messagesOf(
    page: readonly { readonly channel: ChannelKey; readonly place: IndexEntry }[],
  ): Promise<readonly { readonly channel: ChannelKey; readonly entry: ChannelMessage }[]> {
    const positions = [...new Set(page.map(({ place }) => place.position))]
    const events = new Map((await eventsAt(this.#pool, positions)).map((event) => [event.position, event]))
    const templates = page.map(({ channel, place }) => {
      const event = events.get(place.position)
      return (event && this.#mapEvent(event).get(channel)) ?? []
    })
    const profiles = await this.#profiles.get(
      templates.flatMap((frames) => frames.map(({ requiredIds }) => requiredIds)),
    )
    return page.map(({ channel, place }, i) => ({
      channel,
      entry: channelMessage(place, templates[i] ?? [], profiles),
    }))
  }

  /** What the events after one position up to another announce on these channels; a page of them is held at a time. */
  async *#eventsBetween(
    after: number,
    upTo: number,
    channels: ReadonlySet<ChannelKey>,
  ): AsyncGenerator<{ readonly channel: ChannelKey; readonly event: PositionedEvent }> {
    for (let at = after; at < upTo; ) {
      const events = await eventsAfter(this.#pool, at, Math.min(MAX_PAGE_EVENTS, upTo - at))
      for (const event of events) {
        for (const channel of this.#mapEvent(event).keys()) if (channels.has(channel)) yield { channel, event }
      }
      at = events.at(-1)?.position ?? upTo
    }
  }
}
