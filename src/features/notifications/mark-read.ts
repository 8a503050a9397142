import { keyOf, type State } from '../../ledger/rules/projection.ts'
import type { Verb } from '../../ledger/rules/verb.ts'
import { inboxKey, notificationCount } from '../../notifications/inbox/inbox.ts'
import { markMoves, readMarks } from './read-mark.ts'

export interface MarkRead {
  readonly user_id: number
  /** The position and number of the last notification to be marked; both 0 when there is none. */
  readonly up_to: number
  readonly number: number
}

/**
 * Marks a user's notifications as read up to one of them; those that are marked stay so. Writes no event: what somebody
 * has read is personal. Answers how many are unread. Never refused.
 */
export const markRead: Verb<MarkRead, number> = {
  refusals: [],
  reads: ({ user_id }) => [inboxKey(user_id), keyOf(readMarks, user_id)],
  decide: () => [],
  sideWrites(state, { user_id, up_to, number }, { now }) {
    if (number <= readCount(state, user_id)) return
    state.set(readMarks, String(user_id), { user_id, up_to, number })
    state.set(markMoves, `${user_id}:${up_to}`, { user_id, up_to, at: now })
  },
  result: (state, { user_id }) => notificationCount(state, user_id) - readCount(state, user_id),
}

const readCount = (state: State, userId: number): number => state.get(readMarks, String(userId))?.number ?? 0
