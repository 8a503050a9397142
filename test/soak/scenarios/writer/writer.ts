import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import type { Instance } from '../../../harness/scenario/service-instance.ts'
import type { Environment } from '../../environment/environment.ts'
import { metricsOf } from '../../environment/metrics-watch.ts'

/** A writer that dies, hangs or is cut off must be replaced within this time. */
const REPLACE_MS = 2_000
const START_MS = 60_000
const POLL_MS = 10

/** Waits until one of the instances is the writer and all others among them send it their commands. */
export async function untilWriter(
  context: ScenarioContext,
  instances: readonly Instance[],
  timeoutMs = START_MS,
): Promise<Instance> {
  const since = performance.now()
  for (;;) {
    for (const instance of instances) {
      const metrics = await metricsOf(instance)
      const isServing = metrics?.get('ledger_forwarding_instances') === instances.length - 1
      if (metrics?.get('ledger_is_writer') === 1 && isServing) return instance
    }
    if (performance.now() - since > timeoutMs) throw new Error(`no writer after ${timeoutMs} ms`)
    await context.pause(POLL_MS)
  }
}

/** Waits until one of the others is the writer, and for all of them; answers the time since the fault. */
export async function untilReplaced(
  context: ScenarioContext,
  { instances }: Environment,
  gone: readonly Instance[],
  since: number,
): Promise<number> {
  await untilWriter(
    context,
    instances.filter((instance) => !gone.includes(instance)),
  )
  const ms = performance.now() - since
  context.expect(ms <= context.limit(REPLACE_MS), `the writer was replaced only after ${ms.toFixed(0)} ms`)
  return ms
}

/** Commands that were sent to a writer, and those of them whose answer was lost. */
export async function forwardedCounts({ instances }: Environment): Promise<{ forwarded: number; lost: number }> {
  const metrics = await Promise.all(instances.map(metricsOf))
  const sum = (name: string): number => metrics.reduce((total, one) => total + (one?.get(name) ?? 0), 0)
  return { forwarded: sum('ledger_forwarded_commands_total'), lost: sum('ledger_lost_answers_total') }
}
