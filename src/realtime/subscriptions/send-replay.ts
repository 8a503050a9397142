import { systemClock } from '../../config/clock.ts'
import { yieldToEventLoop } from '../../http/limits/event-loop-yield.ts'
import type { Channel } from '../channels/channel.ts'
import { type ChannelMessage, frameTexts } from '../channels/channel-message.ts'
import type { Hub } from '../channels/hub.ts'
import { sliceLength } from '../channels/replay-slices.ts'
import type { Client } from '../sockets/client.ts'
import { closeCodes } from '../sockets/close-codes.ts'
import { encodeFrames } from '../sockets/encode-frames.ts'

/** The longest pause between two slices of a replay: the event loop may be busy with others. */
const MAX_PAUSE_MS = 10

/** A channel's messages on their way to a client that is not a listener yet. */
export interface PendingReplay {
  readonly client: Client
  readonly channel: Channel
  /** The channel's name for this client. */
  readonly name: string
  /** All that the client still lacks of what the hub has delivered. */
  readonly messages: readonly ChannelMessage[]
  readonly isAbandoned: () => boolean
  /** Makes the client a listener: it has all that was delivered up to this turn. */
  readonly goLive: () => void
}

/**
 * Sends messages in slices, then those that came meanwhile, and calls `goLive` in the turn of the last slice. It pauses
 * between two slices for as long as a turn took, so that others have half of the event loop's time.
 */
export async function sendReplay(hub: Pick<Hub, 'position'>, replay: PendingReplay): Promise<void> {
  const { client, channel, name, messages, isAbandoned, goLive } = replay
  let last = hub.position
  let sentAt = systemClock.now()
  let rest = sendSlice(client, name, messages)
  while (rest.length > 0) {
    await yieldToEventLoop()
    await systemClock.sleep(Math.min(systemClock.now() - sentAt, MAX_PAUSE_MS))
    if (isAbandoned()) return
    const newer = channel.messagesAfter(last, Date.now())
    if (newer === 'expired' || newer === 'not-loaded') {
      // The backlog was dropped to free memory. The client resumes from what it got.
      return client.close(closeCodes.capacity)
    }
    last = newer.at(-1)?.position ?? last
    sentAt = systemClock.now()
    rest = sendSlice(client, name, [...rest, ...newer])
  }
  goLive()
}

/** Sends the first slice of these messages; returns the rest. */
function sendSlice(client: Client, name: string, messages: readonly ChannelMessage[]): readonly ChannelMessage[] {
  const count = sliceLength(messages)
  sendMessages(client, name, messages.slice(0, count))
  return messages.slice(count)
}

/** Sends messages at once. */
export function sendMessages(client: Client, name: string, messages: readonly ChannelMessage[]): void {
  const texts = messages.flatMap(({ bodies }) => frameTexts(name, bodies, client.language))
  if (texts.length > 0) client.pushReplay(encodeFrames(texts))
}
