import { median } from '../../harness/load/percentiles.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import { type Instance, metricsOf } from '../../harness/scenario/service-instance.ts'

const SAMPLE_INTERVAL_MS = 250

/** The memory of a process, in bytes, at a time in milliseconds. */
export interface Sample {
  readonly at: number
  readonly heap: number
  readonly resident: number
}

/** Samples the memory of an instance until the end of the scenario. */
export function watchMemory(context: ScenarioContext, instance: Instance): readonly Sample[] {
  const samples: Sample[] = []
  const sample = async (): Promise<void> => {
    const metrics = await metricsOf(instance)
    const heap = metrics?.get('nodejs_heap_size_used_bytes')
    const resident = metrics?.get('process_resident_memory_bytes')
    if (heap !== undefined && resident !== undefined) samples.push({ at: performance.now(), heap, resident })
  }
  const timer = setInterval(() => void sample(), SAMPLE_INTERVAL_MS)
  context.teardown(async () => clearInterval(timer))
  return samples
}

/** The memory of a process after its warm-up and at its end. */
interface Memory {
  readonly seconds: number
  readonly warm: Omit<Sample, 'at'>
  readonly end: Omit<Sample, 'at'>
}

export const memoryParts = ['heap', 'resident'] as const

/** Shares of a process's lifetime: its warm-up, and the window of a median. */
const WARM_UP_SHARE = 0.3
const WINDOW_SHARE = 0.1
/** The limit of the memory at the end, as a multiple of that after the warm-up. */
const MAX_GROWTH = 1.2

/** Uses medians, as the heap varies with every garbage collection. Needs at least one sample; samples are in order. */
export function memoryOf(life: readonly Sample[]): Memory {
  const warm = Math.floor(life.length * WARM_UP_SHARE)
  const window = Math.ceil(life.length * WINDOW_SHARE)
  const use = (samples: readonly Sample[]): Omit<Sample, 'at'> => ({
    heap: median(samples.map(({ heap }) => heap)),
    resident: median(samples.map(({ resident }) => resident)),
  })
  const seconds = ((life.at(-1)?.at ?? 0) - (life[0]?.at ?? 0)) / 1000
  return { seconds, warm: use(life.slice(warm, warm + window)), end: use(life.slice(-window)) }
}

export const grew = ({ warm, end }: Memory, part: (typeof memoryParts)[number]): boolean =>
  end[part] > warm[part] * MAX_GROWTH
