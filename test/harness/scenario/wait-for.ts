import type { Stage } from './scenario-context.ts'

const LOOK_MS = 20

/** Waits for a condition; false when it does not come about within so many milliseconds. */
export async function until(stage: Stage, holds: () => boolean, withinMs: number): Promise<boolean> {
  const started = performance.now()
  while (!holds()) {
    if (performance.now() - started > withinMs) return false
    await stage.pause(LOOK_MS)
  }
  return true
}
