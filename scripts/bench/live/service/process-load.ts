import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type Static, Type } from '@sinclair/typebox'

/** How busy a process of clients was: when it is late itself, its figures are not those of the service. */
export const ProcessLoad = Type.Object({
  /** Milliseconds by which timers were late. */
  lagP99: Type.Number(),
  /** Its share of one core. */
  cpu: Type.Number(),
})
export type ProcessLoad = Static<typeof ProcessLoad>

const RESOLUTION_MS = 5

/** Starts to measure this process; the result measures up to its call. */
export function measureProcess(): () => ProcessLoad {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const began = performance.now()
  const cpu = process.cpuUsage()
  delay.enable()
  return () => {
    delay.disable()
    const { user, system } = process.cpuUsage(cpu)
    return {
      lagP99: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
      cpu: (user + system) / 1_000 / (performance.now() - began),
    }
  }
}
