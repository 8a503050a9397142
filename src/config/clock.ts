import { setTimeout as sleep } from 'node:timers/promises'

/** Time and rest of what paces itself; tests use their own. */
export interface Clock {
  /** Milliseconds from some moment on. */
  now(): number
  sleep(ms: number): Promise<unknown>
}

export const systemClock: Clock = { now: () => performance.now(), sleep }
