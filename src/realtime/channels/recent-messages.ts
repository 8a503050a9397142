import type { ChannelKey } from '../frames/frame-mapper.ts'

/** More than the indexes are behind while they are written, and a megabyte of memory. */
const MAX_MESSAGES = 5_000

/** A message's place. */
export interface ChannelPosition {
  readonly channel: ChannelKey
  readonly position: number
}

interface RecentMessage {
  readonly position: number
  readonly channels: readonly ChannelKey[]
}

/** Which of the events that an instance has delivered are messages of which channels: the indexes tell this of earlier ones. */
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
    if (this.#messages.length < 2 * MAX_MESSAGES) return
    const forgotten = this.#messages.splice(0, MAX_MESSAGES)
    this.#from = forgotten.at(-1)?.position ?? this.#from
  }

  /** The messages of these channels after a position and up to another, in order, as far back as they are remembered. */
  between(after: number, upTo: number, channels: ReadonlySet<ChannelKey>): readonly ChannelPosition[] {
    const first = this.#messages.findLastIndex(({ position }) => position <= after) + 1
    return this.#messages
      .slice(first)
      .filter(({ position }) => position <= upTo)
      .flatMap(({ position, channels: named }) =>
        named.filter((channel) => channels.has(channel)).map((channel) => ({ channel, position })),
      )
  }
}
