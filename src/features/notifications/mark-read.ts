import { integer, keyOf, micros, projection, type State } from '../../ledger/rules/projection.ts'
import type { Verb } from '../../ledger/rules/verb.ts'
import { inboxKey, notificationCount } from '../../notifications/inbox.ts'

interface MarkRead {
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

/** Up to which of their notifications users have read; profile data, which is not part of the ledger. */
export const readMarks = projection('notification_marks', {
  user_id: integer(),
  /** The position of the last notification that was read. */
  up_to: integer(),
  /** Its number: how many of the user's notifications are read. */
  number: integer(),
})

/** When users moved their marks, from which follows when each notification was read; profile data. */
export const markMoves = projection('notification_reads', {
  user_id: integer(),
  up_to: integer(),
  at: micros(),
})
