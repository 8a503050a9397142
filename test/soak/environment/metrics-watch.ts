import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import type { Instance } from '../../harness/scenario/service-instance.ts'
import { type Memory, memoryOf, type Sample, secondsOf } from './memory.ts'

const EVERY_MS = 250

/** Watches what the instances tell of themselves: how many commands wait, and what memory they hold. */
export class MetricsWatch {
  /** How many waited in the instance that was looked at last, and the most that were seen to wait in one. */
  depth = 0
  maxDepth = 0
  /** How often somebody looked. */
  samples = 0
  /** By process. */
  readonly #lives = new Map<number, Sample[]>()
  readonly #timer: NodeJS.Timeout

  constructor(context: ScenarioContext, instances: readonly Instance[]) {
    this.#timer = setInterval(() => {
      for (const instance of instances) void this.#sample(instance)
    }, EVERY_MS)
    context.teardown(async () => this.stop())
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Of the process that lived longest; undefined when none was seen. */
  memory(): Memory | undefined {
    const lives = [...this.#lives.values()].toSorted((a, b) => secondsOf(b) - secondsOf(a))
    return lives[0] === undefined ? undefined : memoryOf(lives[0])
  }

  async #sample(instance: Instance): Promise<void> {
    const { pid } = instance
    const metrics = await metricsOf(instance)
    if (metrics === undefined || instance.pid !== pid) return
    const depth = metrics.get('ledger_queue_depth')
    const heap = metrics.get('nodejs_heap_size_used_bytes')
    const resident = metrics.get('process_resident_memory_bytes')
    if (depth === undefined || heap === undefined || resident === undefined) return
    this.samples += 1
    this.depth = depth
    this.maxDepth = Math.max(this.maxDepth, depth)
    const life = this.#lives.get(pid) ?? []
    this.#lives.set(pid, life)
    life.push({ at: performance.now(), heap, resident })
  }
}

/** Values of an instance's metrics by name, for those without labels; undefined when it does not answer. */
export async function metricsOf({ origin }: Instance): Promise<ReadonlyMap<string, number> | undefined> {
  try {
    const response = await fetch(`${origin}/metrics`, { signal: AbortSignal.timeout(5_000) })
    const lines = (await response.text()).matchAll(/^([a-z_]+) (\S+)$/gm)
    return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]))
  } catch {
    return undefined
  }
}
