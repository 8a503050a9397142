import { clock } from '../../../../test/harness/load/clock.ts'
import { type Ending, RawSocket, type Target } from './raw-socket.ts'
import { RoomCursor } from './room-cursor.ts'

// The rule of src/realtime/clients/README.md.
const BACKOFF_MS = { min: 5_000, max: 60_000 }
const MAX_PROMPT_DELAY_MS = 1_000
const MAX_RETRY_DELAY_MS = 5_000
const READY_TIMEOUT_MS = 15_000

/** Why sockets of this process had to come again. */
export const counts = {
  /** Attempts that nobody listened to, that were not ready in time, answered 503, or closed with 4100. */
  refused: 0,
  timedOut: 0,
  busy: 0,
  sentAway: 0,
  /** Channels that were refused with `retry`. */
  retried: 0,
  notResumed: 0,
}

/** How often which refusal, status or close code came that a client of this bench should not get. */
export const unexpected = new Map<string, number>()
const addUnexpected = (what: string): void => void unexpected.set(what, 1 + (unexpected.get(what) ?? 0))

export interface Destination extends Target {
  /** Whether the service takes several channels in one `sub`. */
  readonly takesBatches: boolean
}

/** A user's socket, subscribed to a room and to the user's own channel, that comes back by itself as clients do. */
export class RoomSocket {
  readonly cursor: RoomCursor
  /** When it last had `ready`, and when both channels were last subscribed, by `clock`. */
  readyAt = 0
  liveAt = 0
  readonly #token: string
  readonly #destination: () => Destination
  #socket: RawSocket | undefined
  /** The user's own channel, and the position to resume it from: nothing happens in it here. */
  #own = { ch: '', since: '0' }
  #isOwnSubscribed = false
  #failures = 0
  #retryMs: number | undefined
  #timer: NodeJS.Timeout | undefined

  /** `destination`: where it connects next time. */
  constructor(destination: () => Destination, token: string, room: string) {
    this.#destination = destination
    this.#token = token
    this.cursor = new RoomCursor(room)
    this.#open()
  }

  get isLive(): boolean {
    return this.cursor.isSubscribed && this.#isOwnSubscribed
  }

  #open(): void {
    const destination = this.#destination()
    const socket = new RawSocket(
      destination,
      this.#token,
      (text) => this.#onText(text, destination.takesBatches),
      (ending) => this.#onEnd(ending),
    )
    this.#socket = socket
    this.#timer = setTimeout(() => {
      counts.timedOut += 1
      socket.destroy()
    }, READY_TIMEOUT_MS)
  }

  #onText(text: string, takesBatches: boolean): void {
    if (text.startsWith('{"t":"ev"')) this.#onEvent(text)
    else if (text.startsWith('{"t":"ready"')) this.#onReady(text, takesBatches)
    else if (text.startsWith('{"t":"subbed"')) this.#onSubscribed(text)
    else if (text.startsWith('{"t":"bye"')) this.#retryMs = Number(/"retry_ms":(\d+)/.exec(text)?.[1])
    else if (text.startsWith('{"t":"hb"')) this.#onHeartbeat()
    else if (text.includes('"retry":true')) this.#onRefused(text)
    else addUnexpected(/"code":"\w+"/.exec(text)?.[0] ?? text.slice(0, 40))
  }

  #onReady(text: string, takesBatches: boolean): void {
    clearTimeout(this.#timer)
    this.readyAt = clock()
    if (this.#own.ch === '')
      this.#own = {
        ch: `user:${/"user_id":"?(\d+)/.exec(text)?.[1]}`,
        since: /"position":"(\d+)"/.exec(text)?.[1] ?? '0',
      }
    const requests = [this.cursor.request, this.#own]
    if (takesBatches) this.#socket?.send({ t: 'sub', chs: requests })
    else for (const request of requests) this.#socket?.send({ t: 'sub', ...request })
  }

  #onSubscribed(text: string): void {
    if (text.includes('"resumed":false')) counts.notResumed += 1
    if (text.includes(`"ch":"${this.cursor.channel}"`)) this.cursor.onSubscribed(text)
    else this.#isOwnSubscribed = true
    if (this.isLive) this.liveAt = clock()
  }

  #onEvent(text: string): void {
    if (text.startsWith(`{"t":"ev","ch":"${this.cursor.channel}"`)) this.cursor.onEvent(text)
  }

  #onHeartbeat(): void {
    this.#failures = 0
    this.cursor.onHeartbeat()
  }

  #onRefused(text: string): void {
    counts.retried += 1
    const socket = this.#socket
    const request = text.includes(this.cursor.channel) ? this.cursor.request : this.#own
    setTimeout(() => {
      if (socket === this.#socket) socket?.send({ t: 'sub', ...request })
    }, Math.random() * MAX_RETRY_DELAY_MS)
  }

  #onEnd({ code, status, retryAfterMs, isRefused }: Ending): void {
    clearTimeout(this.#timer)
    this.#socket = undefined
    this.#isOwnSubscribed = false
    this.cursor.onDisconnected()
    if (isRefused) counts.refused += 1
    if (status === 503) counts.busy += 1
    if (code === 4100) counts.sentAway += 1
    if (status !== 0 && status !== 503) addUnexpected(`status ${status}`)
    if ((code > 0 && code < 4100) || code === 4101 || code === 4108) addUnexpected(`close code ${code}`)
    const isPrompt = code >= 4200 && code < 4300 && this.#failures === 0
    const within = isPrompt ? MAX_PROMPT_DELAY_MS : Math.min(BACKOFF_MS.max, BACKOFF_MS.min * 2 ** this.#failures)
    this.#failures += 1
    setTimeout(() => this.#open(), this.#retryMs ?? retryAfterMs + Math.random() * within)
    this.#retryMs = undefined
  }
}
