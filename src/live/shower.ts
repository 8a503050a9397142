import type { Kysely } from 'kysely'
import type { Tables } from '../db/tables.ts'
import type { RecordedEvent } from '../ledger/chain.ts'
import type { ShownState } from './announcer.ts'
import { userChannel } from './channel-names.ts'
import { inChannel, stateBody } from './entry.ts'
import { framed } from './framing.ts'

/** Users whose state is read at a time. */
const MOST = 200
const RETRY_MS = 200

/** A socket of the user whose state it is. */
export interface Viewer {
  show(frames: Buffer): void
}

export interface ShowerParts {
  readonly db: Kysely<Tables>
  /** Whether anybody has a socket on this instance. */
  readonly anyone: () => boolean
  /** The sockets of a user on this instance. */
  readonly viewers: (userId: number) => ReadonlySet<Viewer> | undefined
  /** How far the ledger has been heard by those viewers. */
  readonly position: () => number
  readonly trouble: (error: unknown) => void
}

/** Shows users their own state when it has changed: however often it did meanwhile, once, as it is then. */
export class Shower {
  readonly #state: ShownState
  readonly #parts: ShowerParts
  readonly #changed = new Set<number>()
  #reading = false

  constructor(state: ShownState, parts: ShowerParts) {
    this.#state = state
    this.#parts = parts
  }

  hear(events: readonly RecordedEvent[]): void {
    if (!this.#parts.anyone()) return
    for (const event of events) {
      for (const userId of this.#changedBy(event)) {
        if (this.#parts.viewers(userId) !== undefined) this.#changed.add(userId)
      }
    }
    if (this.#changed.size > 0 && !this.#reading) void this.#read()
  }

  #changedBy(event: RecordedEvent): readonly number[] {
    try {
      return this.#state.changedBy(event)
    } catch (error) {
      this.#parts.trouble(error)
      return []
    }
  }

  async #read(): Promise<void> {
    this.#reading = true
    while (this.#changed.size > 0) {
      const users = [...this.#changed].slice(0, MOST)
      for (const userId of users) this.#changed.delete(userId)
      try {
        // What is read is at least as new as that.
        const position = this.#parts.position()
        const states = await this.#state.read(this.#parts.db, users)
        for (const [userId, state] of states) this.#show(userId, position, state)
      } catch (error) {
        this.#parts.trouble(error)
        for (const userId of users) this.#changed.add(userId)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
    this.#reading = false
  }

  #show(userId: number, position: number, state: object): void {
    const viewers = this.#parts.viewers(userId)
    if (viewers === undefined) return
    const frames = framed([inChannel(userChannel(userId), stateBody(this.#state.event, position, state))])
    for (const viewer of viewers) viewer.show(frames)
  }
}
