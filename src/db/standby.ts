import { setTimeout as sleep } from 'node:timers/promises'
import { SingleFlight } from './async.ts'

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

const POLL_INTERVAL_MS = 1_000
const RETRY_INTERVAL_MS = 1_000

/** Whether the database is a standby, which takes no writes; asked again every second until it is promoted. */
export class Promotion {
  #isStandby: boolean
  readonly #promoted: Promise<void>
  readonly #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(isStandby: boolean, isInRecovery: () => Promise<boolean>) {
    this.#isStandby = isStandby
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#promoted = promise
    if (!isStandby) {
      resolve()
      return
    }
    const poll = async (): Promise<void> => {
      if (await isInRecovery()) return
      this.#isStandby = false
      clearInterval(this.#timer)
      resolve()
    }
    this.#timer = setInterval(() => void poll().catch(() => {}), POLL_INTERVAL_MS)
  }

  get isStandby(): boolean {
    return this.#isStandby
  }

  /**
   * Calls `work` once the database takes writes, again and again until it succeeds or `stop` is called. Never rejects:
   * `onFailure` gets the errors.
   */
  async whenPromoted(work: () => Promise<void>, onFailure: (error: unknown) => void): Promise<void> {
    await this.#promoted
    while (!this.#isStopped) {
      try {
        await work()
        return
      } catch (error) {
        onFailure(error)
      }
      await sleep(RETRY_INTERVAL_MS)
    }
  }

  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }
}
