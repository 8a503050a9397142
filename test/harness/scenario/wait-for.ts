import type { ScenarioContext } from './scenario-context.ts'

const INTERVAL_MS = 20

/** Waits for a condition; false when it was not met in time, which is longer on a shared machine. */
export async function waitFor(context: ScenarioContext, holds: () => boolean, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + context.limit(withinMs)
  while (!holds()) {
    if (performance.now() > deadline) return false
    await context.pause(INTERVAL_MS)
  }
  return true
}
