let tail: Promise<void> = Promise.resolve()

/**
 * Resolves for one of those who wait in each turn of the event loop. Work of some milliseconds begins with it, so that
 * what others ask for comes in between, however many ask for such work at once.
 */
export function yieldToEventLoop(): Promise<void> {
  tail = tail.then(() => new Promise((resolve) => setImmediate(resolve)))
  return tail
}

/** Does work that yields between its parts, each part in a turn of its own. */
export async function runYielding<Result>(work: Generator<undefined, Result, undefined>): Promise<Result> {
  for (;;) {
    await yieldToEventLoop()
    const { done, value } = work.next()
    if (done === true) return value
  }
}
