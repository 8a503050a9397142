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

/** Samples the memory of the instances, in bytes. */
export class MemoryWatch {
  maxResident = 0
  /** Samples by process id. */
  readonly #lives = new Map<number, Sample[]>()
  readonly #timer: NodeJS.Timeout

  constructor(context: ScenarioContext, instances: readonly Instance[]) {
    this.#timer = setInterval(() => {
      for (const instance of instances) void this.#sample(instance)
    }, SAMPLE_INTERVAL_MS)
    context.teardown(async () => clearInterval(this.#timer))
  }

  /** The memory of the process that ran longest. Throws without samples. */
  memory(): Memory {
    const lives = [...this.#lives.values()].toSorted((a, b) => secondsOf(b) - secondsOf(a))
    return memoryOf(lives[0] ?? [])
  }

  async #sample(instance: Instance): Promise<void> {
    const { pid } = instance
    const metrics = await metricsOf(instance)
    if (metrics === undefined || instance.pid !== pid) return
    const heap = metrics.get('nodejs_heap_size_used_bytes')
    const resident = metrics.get('process_resident_memory_bytes')
    if (heap === undefined || resident === undefined) return
    this.maxResident = Math.max(this.maxResident, resident)
    const life = this.#lives.get(pid) ?? []
    this.#lives.set(pid, life)
    life.push({ at: performance.now(), heap, resident })
  }
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
  return { seconds: secondsOf(life), warm: use(life.slice(warm, warm + window)), end: use(life.slice(-window)) }
}

const secondsOf = (life: readonly Sample[]): number => ((life.at(-1)?.at ?? 0) - (life[0]?.at ?? 0)) / 1000

export const grew = ({ warm, end }: Memory, part: (typeof memoryParts)[number]): boolean =>
  end[part] > warm[part] * MAX_GROWTH
