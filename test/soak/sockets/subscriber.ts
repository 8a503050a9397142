import { setTimeout as sleep } from 'node:timers/promises'
import type { Instance } from '../../harness/scenario/service-instance.ts'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'
import { oneOf } from '../load/random.ts'

/** The fields of a frame that are read. */
interface Frame {
  readonly t: string
  readonly ch?: string
  readonly position?: string
  readonly prev?: string | null
  readonly id?: string
  readonly resumed?: boolean
}

/** Delay before a reconnect: random after a connection was closed, fixed when none could be opened. */
const RETRY_MS = { min: 5, max: 60, failed: 150 }

/** A client of a room that reconnects to any instance after every close, and resumes with `since`. */
export class Subscriber {
  readonly #instances: readonly Pick<Instance, 'origin'>[]
  readonly #channel: string
  readonly #token: string
  #client: WebSocketClient | undefined
  #stopped = false
  /** Where the subscription started, once it has; every event after it up to `position` was received. */
  startPosition: number | null = null
  position = 0
  /**
   * All frames up to this position were received. An event may have several frames of which only some arrived, so the
   * last event is requested again, and its known frames are recognised by their ids.
   */
  #resumeFrom = 0
  readonly #idsAtPosition = new Set<string>()
  frames = 0
  /** How often it reconnected. */
  reconnects = 0
  readonly codes = new Map<number, number>()
  readonly faults: string[] = []

  constructor(instances: readonly Pick<Instance, 'origin'>[], room: string, token: string) {
    this.#instances = instances
    this.#channel = `one-to-room:${room}`
    this.#token = token
    this.#connect()
  }

  /** Whether it is subscribed now. */
  isSubscribed = false

  cut(): void {
    this.#client?.terminate()
  }

  end(): void {
    this.#stopped = true
    this.cut()
  }

  #connect(): void {
    const { origin } = oneOf(this.#instances)
    let opened = false
    this.#client = new WebSocketClient(origin, {
      token: this.#token,
      onOpen: () => {
        opened = true
        const since = this.startPosition === null ? {} : { since: String(this.#resumeFrom) }
        this.#client?.send({ t: 'sub', ch: this.#channel, ...since })
      },
      onText: (text) => this.#onFrame(JSON.parse(text)),
      onClose: (code) => {
        this.isSubscribed = false
        this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
        const { min, max, failed } = RETRY_MS
        const delayMs = opened ? min + Math.random() * (max - min) : failed
        if (!this.#stopped) void sleep(delayMs).then(() => this.#reconnect())
      },
    })
  }

  #reconnect(): void {
    if (this.#stopped) return
    this.reconnects += 1
    this.#connect()
  }

  #onFrame(frame: Frame): void {
    if (frame.t === 'err') this.faults.push(JSON.stringify(frame))
    if (frame.t === 'subbed') {
      if (frame.resumed !== true) this.faults.push(`not resumed: ${JSON.stringify(frame)} after ${this.#resumeFrom}`)
      this.startPosition ??= Number(frame.position)
      this.isSubscribed = true
      this.position = Math.max(this.position, this.startPosition)
      this.#resumeFrom = Math.max(this.#resumeFrom, this.startPosition)
    }
    if (frame.t !== 'ev' || frame.ch !== this.#channel || frame.prev === undefined) return
    const position = Number(frame.position)
    const prev = Number(frame.prev ?? 0)
    const id = frame.id ?? ''
    if (position === this.position) {
      if (!this.#idsAtPosition.has(id)) this.frames += 1
      this.#idsAtPosition.add(id)
      return
    }
    if (position < this.position) this.faults.push(`${position} came again, or late, after ${this.position}`)
    else if (prev > this.position) this.faults.push(`${prev} is missing between ${this.position} and ${position}`)
    this.#resumeFrom = this.position
    this.position = position
    this.frames += 1
    this.#idsAtPosition.clear()
    this.#idsAtPosition.add(id)
  }
}
