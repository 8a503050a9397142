/** Supervisors commonly kill a process 10 s after asking it to stop. */
const STOP_TIMEOUT_MS = 9500

/**
 * Aborts at the first SIGTERM or SIGINT. Further ones are ignored: a Ctrl-C arrives from the terminal and again from npm,
 * and must not cut the clean-up short. After a timeout the process exits in any case.
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
