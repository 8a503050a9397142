import type { ChannelKey } from '../frames/frame-mapper.ts'

/** More than the indexes are behind while they are written, and a megabyte of memory. */
export const MAX_RECENT_MESSAGES = 5_000

/** An event that is a message of some channels. */
export interface RecentMessage {
  readonly position: number
  readonly channels: readonly ChannelKey[]
}

/** Which of the newest events are messages of which channels: those that an instance has delivered, and some from before it. */
export class RecentMessages {
  /** All messages after `#from` up to what was delivered last, in order. */
  #messages: RecentMessage[] = []
  #from: number

  /** `position` is where the instance starts to deliver. */
  constructor(position: number) {
    this.#from = position
  }

  /** What is older has to be found elsewhere. */
  get from(): number {
    return this.#from
  }

  add(message: RecentMessage): void {
    this.#messages.push(message)
    if (this.#messages.length < 2 * MAX_RECENT_MESSAGES) return
    const forgotten = this.#messages.splice(0, MAX_RECENT_MESSAGES)
    this.#from = forgotten.at(-1)?.position ?? this.#from
  }

  /** Takes all messages after a position up to another, unless others were taken or forgotten meanwhile. */
  extend(after: number, upTo: number, messages: readonly RecentMessage[]): void {
    if (upTo !== this.#from) return
    this.#messages = [...messages, ...this.#messages]
    this.#from = after
  }

  /** The messages after a position, in order, as far back as they are known. */
  after(position: number): readonly RecentMessage[] {
    return this.#messages.slice(this.#messages.findLastIndex((message) => message.position <= position) + 1)
  }
}
