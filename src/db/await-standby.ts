import { setTimeout as sleep } from 'node:timers/promises'
import { SingleFlight } from './single-flight.ts'

/** How long a read waits for a standby, and how long it pauses between two looks. */
const MAX_WAIT_MS = 250
const LOOK_INTERVAL_MS = 10

/** Waits until a standby has caught up; false when that takes too long. Rejects when `hasCaughtUp` does. */
export async function awaitStandby(hasCaughtUp: () => Promise<boolean>, maxWaitMs = MAX_WAIT_MS): Promise<boolean> {
  let isLate = false
  const look = async (): Promise<boolean> => {
    while (!isLate) {
      if (await hasCaughtUp()) return true
      await sleep(LOOK_INTERVAL_MS)
    }
    return false
  }
  const timeout = new AbortController()
  try {
    // A standby that hangs must not keep the caller.
    return await Promise.race([look(), sleep(maxWaitMs, false, { signal: timeout.signal })])
  } finally {
    isLate = true
    timeout.abort()
  }
}

/** For reads that wait for a position of a standby: they share their looks, and one that fails sees nothing. */
export function positionWaiter(
  readHead: () => Promise<number>,
  maxWaitMs = MAX_WAIT_MS,
): (position: number) => Promise<boolean> {
  const looks = new SingleFlight(() => readHead().catch(() => 0))
  return (position) => awaitStandby(async () => (await looks.run()) >= position, maxWaitMs)
}
