import type { FanOut } from './fan-out.ts'
import { PriorityQueue } from './priority-queue.ts'

/** How long frames are sent in one turn of the event loop; requests wait for it. */
const SLICE_MS = 2
/** The longest pause of a channel between two rounds. */
const MAX_PAUSE_MS = 20
/**
 * By how much each listener of a channel lets others go first: small channels before big ones, and a channel of 5,000
 * before those whose frames are half a second newer.
 */
const PATIENCE_PER_LISTENER_MS = 0.1

interface Turn {
  readonly fanOut: FanOut
  /** Channels with an earlier time go first. */
  readonly dueAt: number
  readonly startedAt: number
}

/**
 * Sends the pending frames of channels: at once when a channel's last round is long past, otherwise after a pause as
 * long as that round took. A lone event does not wait; under load, a channel's events go out together. Long work is
 * done in slices, with turns of the event loop in between.
 */
export class FlushScheduler {
  readonly #onSent: (frames: number) => void
  readonly #onFlushed: (seconds: number) => void
  readonly #waiting = new Map<FanOut, Turn>()
  /** The turns of channels that wait, and of some that were removed. */
  readonly #turns = new PriorityQueue<Turn>()
  /** Channels that pause. */
  readonly #pauses = new Map<FanOut, NodeJS.Timeout>()
  /** The next turn's slice. */
  #slice: NodeJS.Immediate | undefined

  /** `onSent` counts frames, once for each listener; `onFlushed` gets how long a round took with its waits. */
  constructor(onSent: (frames: number) => void, onFlushed: (seconds: number) => void) {
    this.#onSent = onSent
    this.#onFlushed = onFlushed
  }

  /** Takes channels that have pending frames. */
  schedule(fanOuts: Iterable<FanOut>): void {
    for (const fanOut of fanOuts) if (!this.#pauses.has(fanOut)) this.#enqueue(fanOut)
    if (this.#waiting.size > 0 && this.#slice === undefined) this.#runSlice()
  }

  /** Forgets a channel that has no listeners any more. */
  remove(fanOut: FanOut): void {
    this.#waiting.delete(fanOut)
    clearTimeout(this.#pauses.get(fanOut))
    this.#pauses.delete(fanOut)
  }

  #enqueue(fanOut: FanOut): void {
    if (this.#waiting.has(fanOut)) return
    const now = performance.now()
    const turn = { fanOut, dueAt: now + fanOut.size * PATIENCE_PER_LISTENER_MS, startedAt: now }
    this.#waiting.set(fanOut, turn)
    this.#turns.push(turn)
  }

  #runSlice(): void {
    const deadline = performance.now() + SLICE_MS
    for (let turn = this.#turns.pop(); turn !== undefined; turn = this.#turns.pop()) {
      const { fanOut, startedAt } = turn
      if (this.#waiting.get(fanOut) !== turn) continue
      const { sent, hasEnded } = fanOut.sendUntil(deadline)
      this.#onSent(sent)
      if (hasEnded) {
        this.#waiting.delete(fanOut)
        this.#onFlushed((performance.now() - startedAt) / 1_000)
        this.#pause(fanOut, startedAt)
      } else this.#turns.push(turn)
      if (performance.now() >= deadline) break
    }
    // Also when nothing is left: a turn has one slice, however many pauses end in it.
    this.#slice = setImmediate(() => {
      this.#slice = undefined
      if (this.#waiting.size > 0) this.#runSlice()
    })
  }

  #pause(fanOut: FanOut, startedAt: number): void {
    const pause = Math.min(MAX_PAUSE_MS, performance.now() - startedAt)
    if (pause < 1) {
      if (fanOut.isPending) this.#enqueue(fanOut)
      return
    }
    const end = (): void => {
      this.#pauses.delete(fanOut)
      if (fanOut.isPending) this.schedule([fanOut])
    }
    this.#pauses.set(fanOut, setTimeout(end, pause))
  }
}
