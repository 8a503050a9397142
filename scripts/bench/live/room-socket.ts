import { clock } from '../../../test/harness/load/clock.ts'
import { type Ending, PlainClient, type PlainOptions } from '../../../test/harness/websocket/plain-client.ts'
import { tokenOf } from '../workload.ts'
import type { Seat } from './service.ts'

// The rule of src/realtime/clients/README.md for a lost network.
const BACKOFF_MS = { min: 5_000, max: 60_000 }
const MAX_RETRY_DELAY_MS = 5_000
const READY_TIMEOUT_MS = 15_000

/** How often which refusal, status or close code came. */
export const endings = new Map<string, number>()
const count = (what: string): void => void endings.set(what, 1 + (endings.get(what) ?? 0))

type Destination = Pick<PlainOptions, 'port' | 'localAddress'>

/** A user's socket, subscribed to a room and to the user's own channel, that comes back by itself as clients do. */
export class RoomSocket {
  /** When both channels were last subscribed, by `clock`; 0 while one is not. */
  liveAt = 0
  readonly #destination: Destination
  readonly #token: string
  #client: PlainClient | undefined
  /** Position to resume each channel from; null for one that was never subscribed. */
  readonly #since: Map<string, string | null>
  readonly #subscribed = new Set<string>()
  #failures = 0
  #retryMs: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(destination: Destination, [user, room]: Seat) {
    this.#destination = destination
    this.#token = tokenOf(user)
    this.#since = new Map([`one-to-room:r${room}`, `user:${user}`].map((channel) => [channel, null]))
    this.#open()
  }

  /** Stops reading until `resume`. */
  pause(): void {
    this.#client?.pause()
  }

  resume(): void {
    this.#client?.resume()
  }

  #open(): void {
    const client: PlainClient = new PlainClient({
      ...this.#destination,
      token: this.#token,
      onText: (text) => this.#onText(text),
      onEnd: (ending) => this.#onEnd(ending),
    })
    this.#client = client
    this.#timer = setTimeout(() => {
      count('not ready in time')
      client.destroy()
    }, READY_TIMEOUT_MS)
  }

  #subscribe(channels: Iterable<string>): void {
    const chs = [...channels].map((ch) => {
      const since = this.#since.get(ch)
      return typeof since === 'string' ? { ch, since } : { ch }
    })
    this.#client?.send({ t: 'sub', chs })
  }

  #onText(text: string): void {
    const [, type = '', channel = ''] = /^\{"t":"(\w+)"(?:.*?"ch":"([^"]+)")?/.exec(text) ?? []
    const position = /"position":"(\d+)"/.exec(text)?.[1]
    if (type === 'ready') {
      clearTimeout(this.#timer)
      this.#subscribe(this.#since.keys())
    } else if (type === 'ev') {
      if (position !== undefined) this.#since.set(channel, position)
    } else if (type === 'subbed') {
      if (position !== undefined) this.#since.set(channel, this.#since.get(channel) ?? position)
      this.#subscribed.add(channel)
      if (this.#subscribed.size === this.#since.size) this.liveAt = clock()
    } else if (type === 'bye') this.#retryMs = Number(/"retry_ms":(\d+)/.exec(text)?.[1])
    else if (type === 'hb') this.#failures = 0
    else if (text.includes('"retry":true')) this.#subscribeLater(channel)
    else count(text.slice(0, 100))
  }

  #subscribeLater(channel: string): void {
    const client = this.#client
    setTimeout(() => {
      if (client === this.#client) this.#subscribe([channel])
    }, Math.random() * MAX_RETRY_DELAY_MS)
  }

  #onEnd({ code, status, retryAfterMs, isRefused }: Ending): void {
    clearTimeout(this.#timer)
    this.#client = undefined
    this.#subscribed.clear()
    this.liveAt = 0
    count(isRefused ? 'nobody listened' : status > 0 ? `status ${status}` : `close code ${code}`)
    const within = Math.min(BACKOFF_MS.max, BACKOFF_MS.min * 2 ** this.#failures)
    this.#failures += 1
    setTimeout(() => this.#open(), this.#retryMs ?? retryAfterMs + Math.random() * within)
    this.#retryMs = undefined
  }
}
