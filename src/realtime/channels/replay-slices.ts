import { type ChannelMessage, messageSize } from './channel-message.ts'

/** What goes out of a replay in one turn of the event loop, which takes well under a millisecond. */
const MAX_SLICE_MESSAGES = 100
const MAX_SLICE_CHARACTERS = 64 * 1024

/** How many of these entries go out in one turn: one at least, however long. */
export function sliceLength(entries: readonly ChannelMessage[]): number {
  let count = 0
  let characters = 0
  for (const entry of entries) {
    characters += messageSize(entry)
    if (count === MAX_SLICE_MESSAGES || (count > 0 && characters > MAX_SLICE_CHARACTERS)) break
    count += 1
  }
  return count
}

/**
 * Lets one replay after the other take its turns. One that is under way is soon over: taken in turns, each would send
 * by itself what is announced until all of them are.
 */
export class ReplayQueue {
  #last: Promise<void> = Promise.resolve()

  /** Resolves with how to let the next one in. */
  async acquire(): Promise<() => void> {
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await before
    return resolve
  }
}
