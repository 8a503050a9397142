import { aborted } from '../../../src/startup/signals.ts'

/** Runs a bench, prints its report, cleans up and ends the process; the exit code is 1 after a failure or a signal. */
export async function runAndExit(measure: (cleanUp: AsyncDisposableStack) => Promise<string>): Promise<never> {
  const stop = new AbortController()
  // Not `once`: a second signal must not end the process before it has cleaned up.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort())
  const cleanUp = new AsyncDisposableStack()
  try {
    const text = await Promise.race([measure(cleanUp), aborted(stop.signal).then(() => null)])
    if (text === null) process.exitCode = 1
    else console.log(text)
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
  await cleanUp.disposeAsync()
  process.exit()
}
