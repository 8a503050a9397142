import type { Evolver } from '../../ledger/rules/event.ts'
import { integer, micros, projection, type RowOf } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'

/** Consecutive sends of one gift by one sender in one room. */
export const streaks = projection('gift_streaks', {
  sender_id: integer(),
  room_id: integer(),
  decoration_id: integer(),
  times: integer(),
  /** Diamonds won since the streak started. */
  won: integer(),
  last_at: micros(),
})

export type Streak = RowOf<typeof streaks>

/** A streak ends after this long without a send. */
const STREAK_TIMEOUT_MICROS = 6_000_000

export const streakKey = (senderId: number, roomId: number, decorationId: number): string =>
  `${senderId}:${roomId}:${decorationId}`

/** The streak after one more send, which won `won` diamonds. */
export function nextStreak(streak: Streak | undefined, now: Micros, won: number): { times: number; won: number } {
  if (streak === undefined || now - streak.last_at >= STREAK_TIMEOUT_MICROS) return { times: 1, won }
  return { times: streak.times + 1, won: streak.won + won }
}

export const evolveStreaks: Evolver = {
  'gift-drawn': (state, { data, at }) => {
    const { sender_id, room_id, decoration_id, times, won } = data
    const streak = { sender_id, room_id, decoration_id, times, won, last_at: at }
    state.set(streaks, streakKey(sender_id, room_id, decoration_id), streak)
  },
}
