/** Whoever asked us to stop kills us soon after this. */
const STOP_TIMEOUT_MS = 9500

/**
 * Aborts with the first SIGTERM or SIGINT. Further ones change nothing: a Ctrl-C reaches us from the terminal and
 * again from npm, and the clean-up must not be cut short. After a while the process ends in any case.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) return
      stop.abort()
      setTimeout(() => {
        console.error('The service did not stop in time.')
        process.exit(1)
      }, STOP_TIMEOUT_MS).unref()
    })
  }
  return stop.signal
}

export const aborted = (signal: AbortSignal): Promise<void> =>
  signal.aborted
    ? Promise.resolve()
    : new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
