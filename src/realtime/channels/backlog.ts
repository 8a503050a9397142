import type { Pool } from 'pg'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import { eventsAfter, eventsAt } from '../../ledger/storage/read-events.ts'
import type { ChannelKey } from '../frames/announcer.ts'
import type { Tell } from '../frames/event-mapper.ts'
import type { WordBook } from '../frames/lookup-cache.ts'
import { type Announced, BACK_MS, type ChannelIndex, MOST_BACK } from './channel-index.ts'
import { type Entry, entryOf, sizeOf } from './channel-message.ts'

/** Events that are read at a time of what the index does not have yet. */
const PAGE_EVENTS = 100
/**
 * Events that are read at a time to make entries of them: as many as come to about so many characters. An event may be
 * a gift to a hundred receivers, and reading 250 of those holds the event loop for 40 ms.
 */
const MAX_PAGE_ENTRIES = 250
const MAX_PAGE_CHARACTERS = 128 * 1024
/** What an entry is taken for as long as none of its channel has been read. */
const UNKNOWN_ENTRY_CHARACTERS = 8 * 1024
/** Characters of a channel that are brought back: as much as a client may have unsent of what it asked for. */
const MAX_CHARACTERS = 8 * 1024 * 1024

/** What can be brought back of a channel. */
export interface Recalled {
  /** Everything after this position is here. */
  readonly from: number
  readonly entries: readonly Entry[]
}

/** What was announced before, from the index and, for what it does not have yet, from the ledger itself. */
export class History {
  readonly #pool: Pool
  readonly #index: ChannelIndex
  readonly #tell: Tell
  readonly #words: WordBook

  constructor(pool: Pool, index: ChannelIndex, tell: Tell, words: WordBook) {
    this.#pool = pool
    this.#index = index
    this.#tell = tell
    this.#words = words
  }

  /** The last position of each channel before this one; null for a channel that has none. */
  async lastBefore(channels: readonly ChannelKey[], position: number): Promise<ReadonlyMap<ChannelKey, number | null>> {
    const { upTo, positions } = await this.#index.lastBefore(channels, position)
    const wanted = new Set(channels)
    for await (const { channel, event } of this.#announcedBetween(upTo, position - 1, wanted)) {
      positions.set(channel, event.position)
    }
    return new Map(channels.map((channel) => [channel, positions.get(channel) ?? null]))
  }

  /** What can be brought back of these channels up to a position. */
  async recall(channels: readonly ChannelKey[], position: number): Promise<ReadonlyMap<ChannelKey, Recalled>> {
    const since = Date.now() - BACK_MS
    const { upTo, positions: lasts } = await this.#index.lastBefore(channels, position + 1)
    const written = await this.#index.window(channels, Math.min(upTo, position), since)
    const announced = new Map(channels.map((channel) => [channel, [...(written.get(channel) ?? [])]]))
    for await (const { channel, event } of this.#announcedBetween(upTo, position, new Set(channels))) {
      const list = announced.get(channel) ?? []
      list.push({ position: event.position, prev: lasts.get(channel) ?? null, at: event.at / 1000 })
      lasts.set(channel, event.position)
      if (list.length >= 2 * MOST_BACK) list.splice(0, list.length - MOST_BACK)
    }
    for (const [channel, list] of announced) {
      announced.set(channel, list.filter(({ at }) => at >= since).slice(-MOST_BACK))
    }
    const entries = await this.#compose(announced)
    return new Map(
      channels.map((channel) => {
        const list = entries.get(channel) ?? []
        const [oldest] = list
        return [channel, { from: (oldest === undefined ? lasts.get(channel) : oldest.prev) ?? 0, entries: list }]
      }),
    )
  }

  /** The newest entries of each channel, a bounded number of events at a time. */
  async #compose(
    announced: ReadonlyMap<ChannelKey, readonly Announced[]>,
  ): Promise<ReadonlyMap<ChannelKey, readonly Entry[]>> {
    const places = [...announced].flatMap(([channel, list]) => list.toReversed().map((place) => ({ channel, place })))
    const newestFirst = new Map<ChannelKey, Entry[]>()
    const characters = new Map<ChannelKey, number>()
    const isFull = (channel: ChannelKey): boolean => (characters.get(channel) ?? 0) > MAX_CHARACTERS
    const expectedOf = (channel: ChannelKey): number => {
      const read = newestFirst.get(channel)?.length
      return read === undefined ? UNKNOWN_ENTRY_CHARACTERS : (characters.get(channel) ?? 0) / read
    }
    for (let at = 0; at < places.length; ) {
      const page: typeof places = []
      let expected = 0
      for (; at < places.length && page.length < MAX_PAGE_ENTRIES; at += 1) {
        const next = places[at]
        if (next === undefined || isFull(next.channel)) continue
        expected += expectedOf(next.channel)
        if (page.length > 0 && expected > MAX_PAGE_CHARACTERS) break
        page.push(next)
      }
      for (const { channel, entry } of await this.#entriesOf(page)) {
        if (isFull(channel)) continue
        characters.set(channel, (characters.get(channel) ?? 0) + sizeOf(entry))
        const list = newestFirst.get(channel)
        if (list === undefined) newestFirst.set(channel, [entry])
        else list.push(entry)
      }
    }
    return new Map([...newestFirst].map(([channel, list]) => [channel, list.toReversed()]))
  }

  async #entriesOf(
    page: readonly { readonly channel: ChannelKey; readonly place: Announced }[],
  ): Promise<readonly { readonly channel: ChannelKey; readonly entry: Entry }[]> {
    const positions = [...new Set(page.map(({ place }) => place.position))]
    const events = new Map((await eventsAt(this.#pool, positions)).map((event) => [event.position, event]))
    const told = page.map(({ channel, place }) => {
      const event = events.get(place.position)
      return (event && this.#tell(event).get(channel)) ?? []
    })
    const words = await this.#words.find(told.flatMap((frames) => frames.map(({ wants }) => wants)))
    return page.map(({ channel, place }, i) => ({ channel, entry: entryOf(place, told[i] ?? [], words) }))
  }

  /** What the events after one position up to another announce on these channels; a page of them is held at a time. */
  async *#announcedBetween(
    after: number,
    upTo: number,
    channels: ReadonlySet<ChannelKey>,
  ): AsyncGenerator<{ readonly channel: ChannelKey; readonly event: PositionedEvent }> {
    for (let at = after; at < upTo; ) {
      const events = await eventsAfter(this.#pool, at, Math.min(PAGE_EVENTS, upTo - at))
      for (const event of events) {
        for (const channel of this.#tell(event).keys()) if (channels.has(channel)) yield { channel, event }
      }
      at = events.at(-1)?.position ?? upTo
    }
  }
}
