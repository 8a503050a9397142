import { type ChannelMessage, messageSize } from '../channels/channel-message.ts'
import type { Hub, Replay } from '../channels/hub.ts'
import type { ResumeBudget, ResumeUsage } from '../channels/resume-budget.ts'
import type { Subscription } from './subscription.ts'

export interface BudgetedResume {
  readonly userId: number
  readonly subscription: Subscription
  /** The position after which the client wants messages; the hub has reached it. */
  readonly since: number
  /** Null: the position is not of this ledger, so there is nothing to replay. */
  readonly expectedMessages: number | null
  readonly start: (replay: Replay) => Promise<void>
}

/**
 * Finds the messages after a position, within the user's resume budget, and calls `start` with them unless the client
 * does not want them any more.
 */
export function resumeWithinBudget(
  hub: Pick<Hub, 'position' | 'resume'>,
  resumes: Pick<ResumeBudget, 'run'>,
  { userId, subscription, since, expectedMessages, start }: BudgetedResume,
): Promise<void> {
  return resumes.run(userId, expectedMessages ?? 0, async () => {
    let replayed: readonly ChannelMessage[] = []
    let queries = 0
    const startIfWanted = async (replay: Replay): Promise<void> => {
      if (subscription.isRemoved) return
      replayed = replay.messages ?? []
      await start(replay)
    }
    if (expectedMessages === null) await startIfWanted({ messages: null, from: hub.position })
    else if (!subscription.isRemoved) queries = await hub.resume(subscription.channel, since, startIfWanted)
    return usageOf(queries, replayed)
  })
}

/** The channels of resumes, and what is read for them, are counted when they are loaded. */
function usageOf(queries: number, messages: readonly ChannelMessage[]): ResumeUsage {
  const characters = messages.reduce((sum, message) => sum + messageSize(message), 0)
  return { channels: 0, queries, readMessages: 0, messages: messages.length, characters }
}
