import { bearer, token } from '../harness/app/minimal-app.ts'
import { TestClient } from '../harness/app/realtime-instance.ts'

/** A client of a room or of its user's own channel that resumes with `since` after each disconnect, and all that it has received. */
export class ChannelReader {
  readonly #ch: string
  readonly #user: number
  #client: TestClient | undefined
  #disconnected: Promise<void> = Promise.resolve()
  /** The position that it resumes from; null before it has one. */
  since: string | null = null
  /** The position of its first subscription. */
  subscribedAt: string | null = null
  readonly received: { readonly position: string; readonly prev: unknown; readonly n: unknown }[] = []
  /** Answers to its `sub` that were not as they should be. */
  readonly faults: unknown[] = []

  constructor(ch: string, user: number) {
    this.#ch = ch
    this.#user = user
  }

  get isConnected(): boolean {
    return this.#client !== undefined
  }

  connect(origin: string): void {
    const client = new TestClient(origin, { headers: bearer(token({ sub: String(this.#user) })) })
    this.#client = client
    const ch = this.#ch
    // Every other one names several channels in its frame.
    client.ws.on('open', () => {
      const sub = { ch, ...(this.since !== null && { since: this.since }) }
      client.send(this.#user % 2 === 0 ? { t: 'sub', ...sub } : { t: 'sub', chs: [{ ch: 'global' }, sub] })
    })
    client.ws.on('close', () => {
      if (this.#client === client) this.#client = undefined
    })
    client.ws.on('message', (data: Buffer) => {
      if (this.#client !== client) return
      const frame = JSON.parse(data.toString())
      if (frame.t === 'err') this.faults.push(frame)
      if (frame.t === 'subbed' && frame.ch === ch) {
        this.subscribedAt ??= frame.position
        if (frame.resumed !== true || (this.since !== null && frame.position !== this.since)) this.faults.push(frame)
        this.since = frame.position
      }
      if (frame.t !== 'ev' || frame.ch !== ch) return
      this.received.push({ position: frame.position, prev: frame.prev, n: frame.data.n })
      this.since = frame.position
    })
  }

  /** Disconnects without a close frame; what arrives later is not counted. */
  disconnect(): void {
    const client = this.#client
    this.#client = undefined
    if (client !== undefined) this.#disconnected = client.close()
  }

  async end(): Promise<void> {
    this.disconnect()
    await this.#disconnected
  }
}
