import { TimeSlice } from '../time-slice.ts'
import type { FanOut } from './fan-out.ts'

/** How long frames are sent in one turn of the event loop; requests wait for it. */
const SLICE_MS = 2
/** The longest pause of a channel between two rounds. */
const MAX_PAUSE_MS = 20

/**
 * Sends the pending frames of channels: at once when a channel's last round is long past, otherwise after a pause as
 * long as that round took. A lone event does not wait; under load, a channel's events go out together. Channels take
 * turns, so that small ones wait for a slice of a big one and not for all of it.
 */
export class FlushScheduler {
  readonly #onSent: (frames: number) => void
  readonly #onFlushed: (seconds: number) => void
  readonly #timeSlice = new TimeSlice(SLICE_MS)
  /** Channels that are being sent, or pause. */
  readonly #busy = new Set<FanOut>()

  /** `onSent` counts frames, once for each listener; `onFlushed` gets how long a round took with its waits. */
  constructor(onSent: (frames: number) => void, onFlushed: (seconds: number) => void) {
    this.#onSent = onSent
    this.#onFlushed = onFlushed
  }

  /** Takes channels that have pending frames. */
  schedule(fanOuts: Iterable<FanOut>): void {
    for (const fanOut of fanOuts) if (!this.#busy.has(fanOut)) this.#begin(fanOut)
  }

  #begin(fanOut: FanOut): void {
    this.#busy.add(fanOut)
    this.#send(fanOut, performance.now())
  }

  #send(fanOut: FanOut, startedAt: number): void {
    this.#timeSlice.run(() => {
      const { sent, hasEnded } = fanOut.sendUntil(this.#timeSlice.deadline)
      this.#onSent(sent)
      if (hasEnded) this.#end(fanOut, performance.now() - startedAt)
      else this.#send(fanOut, startedAt)
    })
  }

  #end(fanOut: FanOut, tookMs: number): void {
    this.#onFlushed(tookMs / 1_000)
    if (tookMs >= 1) setTimeout(() => this.#continue(fanOut), Math.min(MAX_PAUSE_MS, tookMs))
    else this.#continue(fanOut)
  }

  #continue(fanOut: FanOut): void {
    this.#busy.delete(fanOut)
    if (fanOut.isPending) this.#begin(fanOut)
  }
}
