import type { Pool } from 'pg'
import type { PlacedEvent } from '../ledger/decider.ts'
import { eventsAfter, eventsAt } from '../ledger/read-events.ts'
import type { ChannelKey } from './announcer.ts'
import { type Announced, BACK_MS, type ChannelIndex, MOST_BACK } from './channel-index.ts'
import { type Entry, entryOf } from './entry.ts'
import type { Tell } from './told.ts'
import type { WordBook } from './words.ts'

/** Events that are read at a time of what the index does not have yet. */
const CHUNK = 500

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
    for (const event of await this.#between(upTo, position - 1)) {
      for (const channel of this.#tell(event).keys()) positions.set(channel, event.position)
    }
    return new Map(channels.map((channel) => [channel, positions.get(channel) ?? null]))
  }

  /** What can be brought back of these channels up to a position. */
  async recall(channels: readonly ChannelKey[], position: number): Promise<ReadonlyMap<ChannelKey, Recalled>> {
    const since = Date.now() - BACK_MS
    const { upTo, positions: lasts } = await this.#index.lastBefore(channels, position + 1)
    const written = await this.#index.window(channels, Math.min(upTo, position), since)
    const announced = new Map(channels.map((channel) => [channel, [...(written.get(channel) ?? [])]]))
    const rest = await this.#between(upTo, position)
    for (const event of rest) {
      for (const channel of this.#tell(event).keys()) {
        announced
          .get(channel)
          ?.push({ position: event.position, prev: lasts.get(channel) ?? null, at: event.at / 1000 })
        lasts.set(channel, event.position)
      }
    }
    for (const [channel, list] of announced) {
      announced.set(channel, list.filter(({ at }) => at >= since).slice(-MOST_BACK))
    }
    const entries = await this.#compose(announced, rest)
    return new Map(
      channels.map((channel) => {
        const list = entries.get(channel) ?? []
        const [oldest] = list
        return [channel, { from: (oldest === undefined ? lasts.get(channel) : oldest.prev) ?? 0, entries: list }]
      }),
    )
  }

  async #compose(
    announced: ReadonlyMap<ChannelKey, readonly Announced[]>,
    known: readonly PlacedEvent[],
  ): Promise<ReadonlyMap<ChannelKey, readonly Entry[]>> {
    const events = new Map(known.map((event) => [event.position, event]))
    const missing = new Set([...announced.values()].flatMap((list) => list.map(({ position }) => position)))
    for (const position of events.keys()) missing.delete(position)
    for (const event of await eventsAt(this.#pool, [...missing])) events.set(event.position, event)
    const places = [...announced].flatMap(([channel, list]) =>
      list.map((place) => {
        const event = events.get(place.position)
        return { channel, place, told: (event && this.#tell(event).get(channel)) ?? [] }
      }),
    )
    const words = await this.#words.find(places.flatMap(({ told }) => told.map(({ wants }) => wants)))
    const entries = places.map(({ channel, place, told }) => ({ channel, entry: entryOf(place, told, words) }))
    const byChannel = Map.groupBy(entries, ({ channel }) => channel)
    return new Map([...byChannel].map(([channel, list]) => [channel, list.map(({ entry }) => entry)]))
  }

  /** The events after one position up to another. */
  async #between(after: number, upTo: number): Promise<readonly PlacedEvent[]> {
    const events: PlacedEvent[] = []
    let at = after
    while (at < upTo) {
      const read = await eventsAfter(this.#pool, at, Math.min(CHUNK, upTo - at))
      events.push(...read)
      at = read.at(-1)?.position ?? upTo
    }
    return events
  }
}
