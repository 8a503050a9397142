import { setTimeout as sleep } from 'node:timers/promises'

/** Runs `work` once at a time: who asks while it runs shares its result. */
export class SingleFlight<Result> {
  readonly #work: () => Promise<Result>
  #running: Promise<Result> | undefined

  constructor(work: () => Promise<Result>) {
    this.#work = work
  }

  /** What runs now. */
  get running(): Promise<Result> | undefined {
    return this.#running
  }

  run(): Promise<Result> {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }
}

const STEPS = 10

/**
 * Calls `expire` once the event loop has turned for `ms`; a turn counts as a tenth of that at most. While the loop is
 * blocked, answers arrive that it has not read: to take them for missing would be wrong. Returns what cancels it.
 */
export function loopTimeout(expire: () => void, ms: number): () => void {
  let steps = 0
  const timer = setInterval(() => {
    steps += 1
    if (steps < STEPS) return
    clearInterval(timer)
    expire()
  }, ms / STEPS)
  return () => clearInterval(timer)
}

/** Resolves once the signal is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))

/** Time and rest of what paces itself; tests use their own. */
export interface Clock {
  /** Milliseconds from some moment on. */
  now(): number
  sleep(ms: number): Promise<unknown>
}

export const systemClock: Clock = { now: () => performance.now(), sleep }
