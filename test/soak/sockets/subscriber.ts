import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Instance } from '../../harness/scenario/service-instance.ts'
import { oneOf } from '../load/random.ts'

/** What of a frame is looked at. */
interface Frame {
  readonly t: string
  readonly ch?: string
  readonly position?: string
  readonly prev?: string | null
  readonly id?: string
  readonly resumed?: boolean
}

/** Before it comes back, where an instance was there and where it was not. */
const RETRY_MS = { least: 5, most: 60, away: 150 }

/** A client of a room who comes back after every cut, to whatever instance, with `since`. */
export class Subscriber {
  readonly #instances: readonly Pick<Instance, 'origin'>[]
  readonly #channel: string
  readonly #token: string
  #socket: WebSocket | undefined
  #stops = false
  /** Everything after it comes, once there is one; then everything up to `position` has come. */
  startPosition: number | null = null
  position = 0
  /**
   * Up to here events came whole: one that tells a channel several things may be cut in the middle, so it is asked for
   * again, and what had come of it is known by its ids.
   */
  #resumeFrom = 0
  readonly #idsAtPosition = new Set<string>()
  frames = 0
  /** How often it was cut off and came back. */
  reconnects = 0
  readonly codes = new Map<number, number>()
  readonly faults: string[] = []

  constructor(instances: readonly Pick<Instance, 'origin'>[], room: string, token: string) {
    this.#instances = instances
    this.#channel = `one-to-room:${room}`
    this.#token = token
    this.#connect()
  }

  /** Whether it listens now. */
  isSubscribed = false

  cut(): void {
    this.#socket?.terminate()
  }

  end(): void {
    this.#stops = true
    this.cut()
  }

  #connect(): void {
    const { origin } = oneOf(this.#instances)
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${this.#token}` },
      perMessageDeflate: false,
    })
    this.#socket = socket
    let opened = false
    socket.on('open', () => {
      opened = true
      const since = this.startPosition === null ? {} : { since: String(this.#resumeFrom) }
      socket.send(JSON.stringify({ t: 'sub', ch: this.#channel, ...since }))
    })
    socket.on('message', (data: Buffer) => this.#onFrame(JSON.parse(data.toString())))
    socket.on('error', () => {})
    socket.on('close', (code) => {
      this.isSubscribed = false
      this.codes.set(code, (this.codes.get(code) ?? 0) + 1)
      const { least, most, away } = RETRY_MS
      if (!this.#stops) void sleep(opened ? least + Math.random() * (most - least) : away).then(() => this.#reconnect())
    })
  }

  #reconnect(): void {
    if (this.#stops) return
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
