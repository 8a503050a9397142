import { type ChannelMessage, messageSize, sliceLength } from '../channels/channel-message.ts'
import type { Hub } from '../channels/hub.ts'
import type { Reservation } from '../channels/resume-budget.ts'
import { closeCodes } from '../sockets/client.ts'
import type { TimeSlice } from '../time-slice.ts'
import type { ChannelRequest, RoomState } from './channel-access.ts'
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
  reservation: Reservation,
): Promise<void> {
  const { hub } = parts
  const { channel, client } = subscription
  const since = request?.since
  const from = typeof since === 'number' ? since : subscription.from
  const liveFrom = subscription.isLive ? subscription.from : Number.POSITIVE_INFINITY
  if (request !== null && from >= liveFrom) {
    subscription.catchUp()
    return subscription.confirm(request, hub.position, since !== 'lost')
  }

  // 1. Read the backlog.
  const isKnown = await readBacklog(subscription, from, parts, reservation)
  if (subscription.isRemoved) return

  // 2. Cut over.
  const missed = isKnown ? channel.messagesAfter(from) : 'expired'
  if (missed === 'not-loaded') throw new BacklogDropped(subscription)
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
  // Newer frames between the parts would be a hole for a client that is cut then.
  subscription.pause()

  // 3. Send the rest.
  const earlier = missed.filter(({ position }) => position <= liveFrom)
  await sendThenGoLive(subscription, earlier, from, parts, reservation)
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
  reservation: Reservation,
): Promise<void> {
  const { hub } = parts
  const { channel, from: subscribedFrom } = subscription
  const { since } = request
  const wasLive = subscription.isLive
  subscription.pause()
  const sentUpTo = hub.position
  let isAnswered = false
  try {
    // 1. Read the state, and what comes with it.
    const found = await readState()
    if (found === null) throw new Error(`${channel.key} has no state`)
    const { position, room } = found
    await hub.reach(position)
    if (typeof since === 'number') await hub.loadLastPosition(channel)
    const after = wasLive ? sentUpTo : position
    await readBacklog(subscription, after, parts, reservation)
    if (subscription.isRemoved) return

    // 2. Cut over.
    const messages = channel.messagesAfter(after)
    if (typeof messages === 'string') throw new BacklogDropped(subscription)
    const following = messages.filter((message) => message.position > position)
    isAnswered = true
    subscription.send(messages.slice(0, messages.length - following.length))
    const [first] = following
    const lastBefore = (first === undefined ? channel.lastPosition : first.prev) ?? 0
    const hasAll = (held: number): boolean =>
      held <= position && ((wasLive && held >= subscribedFrom) || lastBefore <= held)
    subscription.confirm(request, position, typeof since === 'number' ? hasAll(since) : since === null, room)

    // 3. Send the rest.
    await sendThenGoLive(subscription, following, wasLive ? subscribedFrom : position, parts, reservation)
  } catch (error) {
    if (wasLive && !isAnswered && !subscription.isRemoved) {
      await listenAgain(subscription, sentUpTo, parts, reservation)
    }
    throw error
  }
}

/**
 * Gets what a client lacks after a position into memory, as far as it can be sent, and resolves when the client's turn has
 * come; false when the position is beyond the ledger's head.
 */
async function readBacklog(
  subscription: Subscription,
  position: number,
  { hub, timeSlice }: ResumeParts,
  reservation: Reservation,
): Promise<boolean> {
  const { channel } = subscription
  for (let reads = 0; reads < MAX_READS; reads += 1) {
    const isKnown = await hub.load(channel, position, reservation)
    await timeSlice.turn()
    if (!isKnown || subscription.isRemoved || channel.messagesAfter(position) !== 'not-loaded') return isKnown
  }
  throw new BacklogDropped(subscription)
}

class BacklogDropped extends Error {
  override readonly name = 'BacklogDropped'

  constructor({ channel }: Subscription) {
    super(`the backlog of ${channel.key} was dropped while a client resumed`)
  }
}

/** Makes a client live again that has everything up to a position. */
async function listenAgain(
  subscription: Subscription,
  sentUpTo: number,
  parts: ResumeParts,
  reservation: Reservation,
): Promise<void> {
  const { channel, client } = subscription
  await readBacklog(subscription, sentUpTo, parts, reservation).catch(() => {})
  if (subscription.isRemoved) return
  const messages = channel.messagesAfter(sentUpTo)
  // The client resumes from what it got.
  if (typeof messages === 'string') return client.close(closeCodes.capacity)
  await sendThenGoLive(subscription, messages, subscription.from, parts, reservation)
}

/**
 * Sends these messages, which are all that the client lacks so far, in parts, then those that came meanwhile. The client
 * is live in the turn of the last part.
 */
async function sendThenGoLive(
  subscription: Subscription,
  messages: readonly ChannelMessage[],
  from: number,
  { hub, timeSlice }: ResumeParts,
  reservation: Reservation,
): Promise<void> {
  const { channel, client } = subscription
  reservation.messages += messageCount(messages)
  // Sending may take as long as the client takes to read.
  reservation.settle()
  let last = hub.position
  let rest = sendPart(subscription, messages)
  while (rest.length > 0) {
    await client.drained()
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
