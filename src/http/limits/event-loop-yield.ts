let tail: Promise<void> = Promise.resolve()

/**
 * Resolves for one waiter in each turn of the event loop. Work of some milliseconds starts with it, so that other
 * requests are served in between, however many ask for such work at once.
 */
export function yieldToEventLoop(): Promise<void> {
  tail = tail.then(() => new Promise((resolve) => setImmediate(resolve)))
  return tail
}

/** Runs each part of a generator in its own turn of the event loop. */
export async function runYielding<Result>(work: Generator<undefined, Result, undefined>): Promise<Result> {
  for (;;) {
    await yieldToEventLoop()
    const { done, value } = work.next()
    if (done === true) return value
  }
}
