import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import type { Instance } from '../../harness/scenario/service-instance.ts'
import { metricsOf } from '../../soak/environment/metrics-watch.ts'

const EVERY_MS = 1_000
/** Far above what the service needs, and no more for a longer run: garbage is left lying as long as there is room. */
const MAX_RESIDENT_MB = 1_024

/** Watches how much memory an instance takes. */
export function watchMemory(context: ScenarioContext, instance: Instance): { judge(): void } {
  let resident = 0
  let heap = 0
  const look = async (): Promise<void> => {
    const metrics = await metricsOf(instance)
    resident = Math.max(resident, (metrics?.get('process_resident_memory_bytes') ?? 0) / 1e6)
    heap = Math.max(heap, (metrics?.get('nodejs_heap_size_used_bytes') ?? 0) / 1e6)
  }
  const timer = setInterval(() => void look(), EVERY_MS)
  context.teardown(async () => clearInterval(timer))
  return {
    judge: () => {
      context.report(`at most ${resident.toFixed(0)} MB of memory, ${heap.toFixed(0)} MB of it in use`)
      context.expect(resident > 0 && resident < MAX_RESIDENT_MB, `memory rose to ${resident.toFixed(0)} MB`)
    },
  }
}
