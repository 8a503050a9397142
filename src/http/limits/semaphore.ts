/** Requests that run, and those that wait for one of them to end. */
export interface Semaphore {
  running: number
  readonly waiting: (() => boolean)[]
}

/** How many requests may run, and how many may wait. */
export interface SemaphoreLimits {
  readonly running: number
  readonly waiting: number
}

/**
 * Starts a request, at once or when enough others have ended. `start` returns whether it did: it does not when the
 * client is gone. False when too many wait.
 */
export function acquire(semaphore: Semaphore, limits: SemaphoreLimits, start: () => boolean): boolean {
  if (semaphore.running < limits.running) {
    semaphore.running += 1
    if (!start()) release(semaphore)
    return true
  }
  if (semaphore.waiting.length >= limits.waiting) return false
  semaphore.waiting.push(start)
  return true
}

/** A running request has ended: the next one takes its place. */
export function release(semaphore: Semaphore): void {
  for (let start = semaphore.waiting.shift(); start !== undefined; start = semaphore.waiting.shift()) {
    if (start()) return
  }
  semaphore.running -= 1
}
