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
