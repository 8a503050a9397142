import { setFlagsFromString } from 'node:v8'

/** Supervisors commonly kill a process 10 s after asking it to stop. */
const STOP_TIMEOUT_MS = 9500

/**
 * Aborts at the first SIGTERM or SIGINT. Further ones are ignored: a Ctrl-C arrives from the terminal and again from npm,
 * and must not cut the clean-up short. After a timeout the process exits in any case, with `exitCode`; `who` then did not
 * stop in time.
 */
export function stopSignal(who: string, exitCode = 1): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) return
      stop.abort(new Error(`ended by ${name}`))
      endInTime(who, exitCode)
    })
  }
  return stop.signal
}

/** Ends the process after a while, unless what is returned is cleared before; `who` then did not stop in time. */
export const endInTime = (who: string, exitCode = 1): NodeJS.Timeout =>
  setTimeout(() => {
    console.error(`${who} did not stop in time.`)
    process.exit(exitCode)
  }, STOP_TIMEOUT_MS).unref()

/**
 * Collects garbage once the heap has grown by half of what is alive. By default Node lets it grow to five times that, and
 * memory rises for minutes however little is kept. Must be called while the heap is small.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=50')
}
