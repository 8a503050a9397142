import { integer, micros, projection } from '../../ledger/rules/projection.ts'

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
