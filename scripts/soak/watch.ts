import type { Instance } from './instance.ts'
import type { Stage } from './stage.ts'

const EVERY_MS = 250

interface Sample {
  readonly at: number
  readonly heap: number
  readonly resident: number
}

/** What one process held, in bytes, when it was warm and at the end of its life. */
export interface Memory {
  readonly seconds: number
  readonly warm: Omit<Sample, 'at'>
  readonly end: Omit<Sample, 'at'>
}

/** The part of a life after which memory is warm, and the part over which it is looked at. */
const WARM_UP = 0.3
const WINDOW = 0.1

/** Watches what the instances tell of themselves: how many commands wait, and what memory they hold. */
export class Watch {
  /** How many waited in the instance that was looked at last, and the most that were seen to wait in one. */
  depth = 0
  deepest = 0
  /** How often somebody looked. */
  looks = 0
  /** By process. */
  readonly #lives = new Map<number, Sample[]>()
  readonly #timer: NodeJS.Timeout

  constructor(stage: Stage, instances: readonly Instance[]) {
    this.#timer = setInterval(() => {
      for (const instance of instances) void this.#look(instance)
    }, EVERY_MS)
    stage.teardown(async () => this.stop())
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Of the process that lived longest; undefined when none was seen. */
  memory(): Memory | undefined {
    const lives = [...this.#lives.values()].toSorted((a, b) => span(b) - span(a))
    return lives[0] === undefined ? undefined : memoryOf(lives[0])
  }

  async #look(instance: Instance): Promise<void> {
    const { pid } = instance
    const metrics = await metricsOf(instance)
    if (metrics === undefined || instance.pid !== pid) return
    const depth = metrics.get('ledger_queue_depth')
    const heap = metrics.get('nodejs_heap_size_used_bytes')
    const resident = metrics.get('process_resident_memory_bytes')
    if (depth === undefined || heap === undefined || resident === undefined) return
    this.looks += 1
    this.depth = depth
    this.deepest = Math.max(this.deepest, depth)
    const life = this.#lives.get(pid) ?? []
    this.#lives.set(pid, life)
    life.push({ at: performance.now(), heap, resident })
  }
}

/** Values of an instance's metrics by name, for those without labels; undefined when it does not answer. */
async function metricsOf({ origin }: Instance): Promise<ReadonlyMap<string, number> | undefined> {
  try {
    const response = await fetch(`${origin}/metrics`, { signal: AbortSignal.timeout(5_000) })
    const lines = (await response.text()).matchAll(/^([a-z_]+) (\S+)$/gm)
    return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]))
  } catch {
    return undefined
  }
}

const span = (life: readonly Sample[]): number => ((life.at(-1)?.at ?? 0) - (life[0]?.at ?? 0)) / 1000

/** Medians, because the heap goes up and down with every collection. */
function memoryOf(life: readonly Sample[]): Memory {
  const warm = Math.ceil(life.length * WARM_UP)
  const window = Math.ceil(life.length * WINDOW)
  const middle = (samples: readonly Sample[]) => ({
    heap: median(samples.map(({ heap }) => heap)),
    resident: median(samples.map(({ resident }) => resident)),
  })
  return { seconds: span(life), warm: middle(life.slice(warm, warm + window)), end: middle(life.slice(-window)) }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
