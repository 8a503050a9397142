import { type ChannelMessage, messageSize } from './channel-message.ts'

/** The part of a replay that is sent in one turn of the event loop; it takes well under a millisecond. */
const MAX_SLICE_MESSAGES = 100
const MAX_SLICE_CHARACTERS = 64 * 1024

/** How many of these messages make up the next slice: at least one, however long. */
export function sliceLength(messages: readonly ChannelMessage[]): number {
  let count = 0
  let characters = 0
  for (const message of messages) {
    characters += messageSize(message)
    if (count === MAX_SLICE_MESSAGES || (count > 0 && characters > MAX_SLICE_CHARACTERS)) break
    count += 1
  }
  return count
}

/**
 * A mutex: one replay of several slices at a time. A client that is being replayed gets new messages by itself instead
 * of with all others, so a few short replays cost less than many long ones in parallel.
 */
export class ReplayQueue {
  #last: Promise<void> = Promise.resolve()

  /** Resolves with the function that releases the queue. */
  async acquire(): Promise<() => void> {
    const previous = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    await previous
    return resolve
  }
}
