import type { ChannelMessage } from '../channels/channel-message.ts'
import type { Hub, Replay } from '../channels/hub.ts'
import type { Client } from '../sockets/client.ts'
import { closeCodes } from '../sockets/close-codes.ts'
import type { OnLoaded } from './answer-sub.ts'
import type { ChannelRequest } from './channel-request.ts'
import type { RoomState } from './room-state.ts'
import type { Subscription } from './subscription.ts'

export interface StateParts {
  readonly hub: Hub
  readonly client: Client
  /** A room's state; null when there is no such room. */
  readonly roomState: (roomId: number) => Promise<RoomState | null>
  /** Calls `start` with the messages after a position that the hub has reached, within the user's budget. */
  readonly resume: (since: number, start: (replay: Replay) => Promise<void>) => Promise<void>
}

/**
 * Answers with the state of a room; what changed after it follows. The state is read after the channel was acquired, so
 * that the channel has all messages after it. A client that was live does not listen meanwhile: it gets what came before
 * the state ahead of the answer. When it cannot be answered, it is live again.
 */
export async function answerWithState(
  subscription: Subscription,
  roomId: number,
  request: ChannelRequest,
  onLoaded: OnLoaded,
  { hub, client, roomState, resume }: StateParts,
): Promise<void> {
  const { channel, from: subscribedFrom } = subscription
  const { since } = request
  const wasLive = subscription.state === 'live'
  subscription.pause()
  const sentUpTo = hub.position
  let isAnswered = false
  try {
    const found = await roomState(roomId)
    if (found === null) throw new Error(`room ${roomId} has no state`)
    const { position, room } = found
    await hub.reach(position)
    const queries = typeof since === 'number' ? 1 + (await hub.loadLastPosition(channel)) : 1
    onLoaded({ queries, readMessages: 0 })
    await resume(wasLive ? sentUpTo : position, async ({ messages }) => {
      if (messages === null) throw new Error(`the backlog of ${channel.key} expired while its state was read`)
      const following = messages.filter((message) => message.position > position)
      isAnswered = true
      subscription.send(messages.slice(0, messages.length - following.length))
      const last = lastBefore(following, channel.lastPosition)
      const hasAll = (held: number): boolean =>
        held <= position && ((wasLive && held >= subscribedFrom) || last <= held)
      const isResumed = typeof since === 'number' ? hasAll(since) : since === null
      subscription.confirm(request, position, isResumed, room)
      await subscription.replay(following, wasLive ? subscribedFrom : position)
    })
  } catch (error) {
    if (wasLive && !isAnswered && !subscription.isRemoved) await listenAgain(subscription, sentUpTo, client)
    throw error
  }
}

/** The position of the channel's last message before these, which are its newest ones; 0 when there is none. */
function lastBefore([first]: readonly ChannelMessage[], lastPosition: number | null | undefined): number {
  return (first === undefined ? lastPosition : first.prev) ?? 0
}

/** Makes a client live again that has everything up to a position. */
async function listenAgain(subscription: Subscription, sentUpTo: number, client: Client): Promise<void> {
  const messages = subscription.channel.messagesAfter(sentUpTo, Date.now())
  // The backlog was dropped to free memory. The client resumes from what it got.
  if (typeof messages === 'string') return client.close(closeCodes.capacity)
  await subscription.replay(messages, subscription.from)
}
