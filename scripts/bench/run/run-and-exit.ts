import { aborted } from '../../../src/startup/signals.ts'

/** Prints what was measured and ends the process, with 1 when it failed or was interrupted; cleans up in any case. */
export async function runAndExit(measure: (cleanUp: AsyncDisposableStack) => Promise<string>): Promise<never> {
  const stop = new AbortController()
  // Again and again does no harm: cleaning up is not cut short.
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
