import type { Instance } from './instance.ts'
import type { Stage } from './stage.ts'

const EVERY_MS = 250

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

/** Watches how many commands wait in each instance. */
export class QueueWatch {
  /** The most that were seen to wait in one instance. */
  deepest = 0
  /** How often somebody looked. */
  looks = 0

  constructor(stage: Stage, instances: readonly Instance[]) {
    const timer = setInterval(() => {
      for (const instance of instances) void this.#look(instance)
    }, EVERY_MS)
    stage.teardown(async () => clearInterval(timer))
  }

  async #look(instance: Instance): Promise<void> {
    const depth = (await metricsOf(instance))?.get('ledger_queue_depth')
    if (depth === undefined) return
    this.looks += 1
    this.deepest = Math.max(this.deepest, depth)
  }
}
