import { setTimeout as pause } from 'node:timers/promises'

/** Far longer than anything takes on a busy machine; it ends the wait for a condition that is never met. */
export const DEADLINE_MS = 60_000
const INTERVAL_MS = 5

/** Waits for a condition. */
export async function until(hasHappened: () => boolean | Promise<boolean>, deadlineMs = DEADLINE_MS): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (!(await hasHappened())) {
    if (performance.now() > deadline)
      throw new Error(`Did not happen in ${deadlineMs / 1000} s: ${String(hasHappened)}`)
    await pause(INTERVAL_MS)
  }
}
