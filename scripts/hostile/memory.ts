import type { Instance } from '../soak/instance.ts'
import type { Stage } from '../soak/stage.ts'
import { metricsOf } from '../soak/watch.ts'

const EVERY_MS = 1_000
/** Far above what the service needs, and far below what would end it. */
const MOST_MB = 768

/** Watches how much memory an instance takes. */
export function watchMemory(stage: Stage, instance: Instance): { judge(): void } {
  let most = 0
  let last = 0
  const look = async (): Promise<void> => {
    const resident = (await metricsOf(instance))?.get('process_resident_memory_bytes')
    if (resident === undefined) return
    last = resident / 1e6
    most = Math.max(most, last)
  }
  const timer = setInterval(() => void look(), EVERY_MS)
  stage.teardown(async () => clearInterval(timer))
  return {
    judge: () => {
      stage.tell(`memory ${most.toFixed(0)} MB at most, ${last.toFixed(0)} MB at the end`)
      stage.expect(most > 0 && most < MOST_MB, `memory rose to ${most.toFixed(0)} MB`)
    },
  }
}
