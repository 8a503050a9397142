/** Requests that are worked on, and those that wait for one of them to be over. */
export interface Semaphore {
  running: number
  readonly waiting: (() => boolean)[]
}

/** How many may be in hand, and how many may wait. */
export interface SemaphoreLimits {
  readonly running: number
  readonly waiting: number
}

/**
 * Begins a request, at once or when enough of the others are over. `begin` answers whether it did: it does not where
 * nobody waits for the answer any more. False when too many wait.
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

/** A request that was begun is over: the next one takes its place. */
export function release(semaphore: Semaphore): void {
  for (let start = semaphore.waiting.shift(); start !== undefined; start = semaphore.waiting.shift()) {
    if (start()) return
  }
  semaphore.running -= 1
}
