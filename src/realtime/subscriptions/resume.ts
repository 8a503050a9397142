import { type ChannelMessage, messageSize, sliceLength } from '../channels/channel-message.ts'
import type { Hub } from '../channels/hub.ts'
import type { ResumeUsage } from '../channels/resume-budget.ts'
import { closeCodes } from '../sockets/close-codes.ts'
import type { TimeSlice } from '../time-slice.ts'
import type { ChannelRequest } from './channel-request.ts'
import type { RoomState } from './room-state.ts'
import type { Subscription } from './subscription.ts'

// How a client that may have a channel gets what it misses, and is live then. A request is answered in three steps: read
// the backlog; cut over, in one turn of the event loop, so that nothing is delivered in between; send the rest.

/** Reads of one backlog; more are needed only while memory is short, and then the client has to ask again. */
const MAX_READS = 3
/** A message of more characters counts as several. */
const CHARACTERS_PER_MESSAGE = 1_000

export interface ResumeParts {
  readonly hub: Hub
  readonly timeSlice: TimeSlice
}

/**
 * Sends all after a position that the client has, or else after the one at which the subscription began, then what comes. A
 * client that is live already gets only what came before its subscription. `request` is null where the service begins.
 */
export async function resume(
  subscription: Subscription,
  request: ChannelRequest | null,
  parts: ResumeParts,
  usage: ResumeUsage,
): Promise<void> {
  const { hub, timeSlice } = parts
  const { channel, client } = subscription
  const since = request?.since
  const from = typeof since === 'number' ? since : subscription.from
  const liveFrom = subscription.isLive ? subscription.from : Number.POSITIVE_INFINITY
  if (request !== null && from >= liveFrom) {
    subscription.catchUp()
    return subscription.confirm(request, hub.position, since !== 'lost')
  }

  // 1. Read the backlog.
  let missed: ReturnType<typeof channel.messagesAfter> = 'not-loaded'
  for (let reads = 0; missed === 'not-loaded'; reads += 1) {
    if (reads === MAX_READS) throw new Error(`the backlog of ${channel.key} was dropped while a client resumed`)
    const isKnown = await hub.load(channel, from, usage)
    await timeSlice.turn()
    if (subscription.isRemoved) return
    missed = isKnown ? channel.messagesAfter(from) : 'expired'
  }

  // 2. Cut over.
  subscription.catchUp()
  if (missed === 'expired') {
    // Nobody would tell the client that it has to reload.
    if (request === null) return client.close(closeCodes.capacity)
    subscription.confirm(request, hub.position, false)
    if (!subscription.isLive) subscription.goLive(hub.position)
    return
  }
  if (request !== null) {
    subscription.confirm(request, channel.key === 'global' ? hub.position : from, since !== 'lost')
  }
  // Newer frames between the parts of a replay would be a hole for a client that is cut then.
  subscription.pause()

  // 3. Send the rest.
  const earlier = missed.filter(({ position }) => position <= liveFrom)
  usage.messages += messageCount(earlier)
  await replay(subscription, earlier, from, parts)
}

/**
 * Answers with the state of a room; what changed after it follows. The state is read after the channel was acquired, so
 * that the channel has all messages after it. A client that was live is not meanwhile: it gets what came before the state
 * ahead of the answer. When it cannot be answered, it is live again.
 */
export async function resumeWithState(
  subscription: Subscription,
  request: ChannelRequest,
  readState: () => Promise<RoomState | null>,
  parts: ResumeParts,
  usage: ResumeUsage,
): Promise<void> {
  const { hub, timeSlice } = parts
  const { channel, from: subscribedFrom } = subscription
  const { since } = request
  const wasLive = subscription.isLive
  subscription.pause()
  const sentUpTo = hub.position
  let isAnswered = false
  try {
    // 1. Read the state.
    usage.hasQueried = true
    const found = await readState()
    if (found === null) throw new Error(`${channel.key} has no state`)
    const { position, room } = found
    await hub.reach(position)
    if (typeof since === 'number') await hub.loadLastPosition(channel, usage)
    await timeSlice.turn()
    if (subscription.isRemoved) return

    // 2. Cut over.
    const messages = channel.messagesAfter(wasLive ? sentUpTo : position)
    if (typeof messages === 'string') throw new Error(`the backlog of ${channel.key} was dropped before its state`)
    const following = messages.filter((message) => message.position > position)
    isAnswered = true
    subscription.send(messages.slice(0, messages.length - following.length))
    const [first] = following
    const lastBefore = (first === undefined ? channel.lastPosition : first.prev) ?? 0
    const hasAll = (held: number): boolean =>
      held <= position && ((wasLive && held >= subscribedFrom) || lastBefore <= held)
    subscription.confirm(request, position, typeof since === 'number' ? hasAll(since) : since === null, room)

    // 3. Send the rest.
    usage.messages += messageCount(messages)
    await replay(subscription, following, wasLive ? subscribedFrom : position, parts)
  } catch (error) {
    if (wasLive && !isAnswered && !subscription.isRemoved) await listenAgain(subscription, sentUpTo, parts)
    throw error
  }
}

/** Makes a client live again that has everything up to a position. */
async function listenAgain(subscription: Subscription, sentUpTo: number, parts: ResumeParts): Promise<void> {
  const messages = subscription.channel.messagesAfter(sentUpTo)
  // The backlog was dropped to free memory. The client resumes from what it got.
  if (typeof messages === 'string') return subscription.client.close(closeCodes.capacity)
  await replay(subscription, messages, subscription.from, parts)
}

/**
 * Sends these messages, which are all that the client lacks so far, in parts, then those that came meanwhile. The client
 * is live in the turn of the last part.
 */
async function replay(
  subscription: Subscription,
  messages: readonly ChannelMessage[],
  from: number,
  { hub, timeSlice }: ResumeParts,
): Promise<void> {
  const { channel, client } = subscription
  let last = hub.position
  let rest = sendPart(subscription, messages)
  while (rest.length > 0) {
    await timeSlice.turn()
    if (subscription.isRemoved) return
    const newer = channel.messagesAfter(last)
    // The backlog was dropped to free memory. The client resumes from what it got.
    if (typeof newer === 'string') return client.close(closeCodes.capacity)
    last = newer.at(-1)?.position ?? last
    rest = sendPart(subscription, [...rest, ...newer])
  }
  subscription.goLive(from)
}

/** Sends the first of these messages; returns the rest. */
function sendPart(subscription: Subscription, messages: readonly ChannelMessage[]): readonly ChannelMessage[] {
  const count = sliceLength(messages)
  subscription.send(messages.slice(0, count))
  return messages.slice(count)
}

/** The number of ordinary messages that cost as much. */
const messageCount = (messages: readonly ChannelMessage[]): number =>
  Math.max(messages.length, messages.reduce((sum, message) => sum + messageSize(message), 0) / CHARACTERS_PER_MESSAGE)
