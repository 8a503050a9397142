import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import type { Instance } from '../../harness/scenario/service-instance.ts'
import { type Memory, memoryOf, type Sample, secondsOf } from './memory.ts'

const SAMPLE_INTERVAL_MS = 250

/** Samples metrics of the instances: the depth of the queue and their memory. */
export class MetricsWatch {
  /** The last depth of a queue, and the largest one. */
  depth = 0
  maxDepth = 0
  samples = 0
  /** Samples by process id. */
  readonly #lives = new Map<number, Sample[]>()
  /** Commands whose answers an instance lost with the writer, by process id. */
  readonly #lost = new Map<number, number>()
  readonly #timer: NodeJS.Timeout

  constructor(context: ScenarioContext, instances: readonly Instance[]) {
    this.#timer = setInterval(() => {
      for (const instance of instances) void this.#sample(instance)
    }, SAMPLE_INTERVAL_MS)
    context.teardown(async () => this.stop())
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Commands whose answers were lost with the writer: it may still hold them, although they were run elsewhere. */
  get lostAnswers(): number {
    return [...this.#lost.values()].reduce((sum, lost) => sum + lost, 0)
  }

  /** Of the process that ran longest; undefined without samples. */
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
    this.#lost.set(pid, metrics.get('ledger_lost_answers_total') ?? 0)
    this.samples += 1
    this.depth = depth
    this.maxDepth = Math.max(this.maxDepth, depth)
    const life = this.#lives.get(pid) ?? []
    this.#lives.set(pid, life)
    life.push({ at: performance.now(), heap, resident })
  }
}

/** An instance's metrics without labels, by name; undefined when it does not answer. */
export async function metricsOf({ origin }: Instance): Promise<ReadonlyMap<string, number> | undefined> {
  try {
    const response = await fetch(`${origin}/metrics`, { signal: AbortSignal.timeout(5_000) })
    const lines = (await response.text()).matchAll(/^([a-z_]+) (\S+)$/gm)
    return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]))
  } catch {
    return undefined
  }
}
