/** Requests that are worked on, and those that wait for one of them to be over. */
export interface Line {
  inHand: number
  readonly waiting: (() => boolean)[]
}

/** How many may be in hand, and how many may wait. */
export interface LineLimits {
  readonly inHand: number
  readonly waiting: number
}

/**
 * Begins a request, at once or when enough of the others are over. `begin` answers whether it did: it does not where
 * nobody waits for the answer any more. False when too many wait.
 */
export function lineUp(line: Line, most: LineLimits, begin: () => boolean): boolean {
  if (line.inHand < most.inHand) {
    line.inHand += 1
    if (!begin()) leave(line)
    return true
  }
  if (line.waiting.length >= most.waiting) return false
  line.waiting.push(begin)
  return true
}

/** A request that was begun is over: the next one takes its place. */
export function leave(line: Line): void {
  for (let begin = line.waiting.shift(); begin !== undefined; begin = line.waiting.shift()) {
    if (begin()) return
  }
  line.inHand -= 1
}
