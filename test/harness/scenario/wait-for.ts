import type { ScenarioContext } from './scenario-context.ts'

const LOOK_MS = 20

/** Waits for a condition; false when it does not come about within so many milliseconds. */
export async function until(context: ScenarioContext, holds: () => boolean, withinMs: number): Promise<boolean> {
  const started = performance.now()
  while (!holds()) {
    if (performance.now() - started > withinMs) return false
    await context.pause(LOOK_MS)
  }
  return true
}
