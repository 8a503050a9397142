import { boolean, micros } from './columns.ts'
import { keyOf, projection } from './projection.ts'

/**
 * Until when time has really passed, which instances advance twice a minute: it follows a clock that jumps ahead slowly. No
 * part of the ledger.
 */
export const passedTime = projection('passed_time', {
  /** Always true: there is one row. */
  only_row: boolean(),
  at: micros(),
})

/** As PostgreSQL writes `true`. */
export const passedTimeKey = keyOf(passedTime, 't')
