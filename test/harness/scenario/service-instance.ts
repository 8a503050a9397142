import { readFileSync } from 'node:fs'
import { reservePort } from '../process/reserve-port.ts'
import { launchService, type ServiceProcess } from '../process/service.ts'
import type { ScenarioContext } from './scenario.ts'
import { keys } from './service-keys.ts'

/** After a fault the service must be ready within this time, not counting what it waited for a processor. */
const READY_MS = 5_000
/** A start that takes longer has failed. The first one creates the database. */
const START_TIMEOUT_MS = 60_000
const MAX_STARTS = 3

/** An instance of the service, which can be stopped, killed and started again on its port. */
export class Instance {
  readonly origin: string
  /** Sends a client's command; the instance counts as ready only when it succeeds. */
  probe: () => Promise<boolean> = async () => true
  /** How often it was stopped or killed; pending requests then get no answer. */
  stops = 0
  /** How often it got ready again. */
  restarts = 0
  /** The longest time from a fault, or the start after it, until it was ready. */
  slowestMs = 0
  /** How much of `slowestMs` its process waited for a processor. */
  cpuWaitMs = 0
  readonly #context: ScenarioContext
  readonly #port: number
  readonly #env: Readonly<Record<string, string>>
  readonly #folder: string | undefined
  #process: ServiceProcess | undefined
  #earlierOutput = ''

  private constructor(
    context: ScenarioContext,
    port: number,
    env: Readonly<Record<string, string>>,
    folder: string | undefined,
  ) {
    this.#context = context
    this.#folder = folder
    this.#port = port
    this.#env = env
    this.origin = `http://127.0.0.1:${port}`
    context.attachLog(`instance-${port}`, () => this.#earlierOutput + (this.#process?.output() ?? ''))
  }

  /** Starts an instance that is stopped at the end of the scenario; in `folder` may be another checkout. */
  static async start(
    context: ScenarioContext,
    env: Readonly<Record<string, string>>,
    folder?: string,
  ): Promise<Instance> {
    // Below the ports of outgoing connections: otherwise a client could connect to itself while the instance is down.
    const instance = new Instance(context, await reservePort(), env, folder)
    await instance.#launchAndListen()
    await instance.#untilReady(performance.now())
    return instance
  }

  /** What the current or the last process has printed. */
  get output(): string {
    return this.#running().output()
  }

  /** Waits until the process ends by itself; answers its exit code, or null for a signal. */
  async ended(): Promise<number | null> {
    this.stops += 1
    return await this.#running().exited
  }

  /** The id of the current or the last process. */
  get pid(): number {
    return this.#running().pid
  }

  /** Starts it again and waits until it is ready; answers the time this took. */
  async start(): Promise<number> {
    const started = performance.now()
    await this.#launchAndListen()
    await this.#untilReady(started)
    return this.#checkReadyTime(performance.now() - started, cpuWaitMs(this.pid), READY_MS)
  }

  /** Waits until it is ready; reports a fault when this takes longer than `withinMs` after `since`, see READY_MS. */
  async ready(since: number, withinMs = READY_MS): Promise<number> {
    const before = cpuWaitMs(this.pid)
    await this.#untilReady(since)
    return this.#checkReadyTime(performance.now() - since, cpuWaitMs(this.pid) - before, withinMs)
  }

  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.origin}/readyz`, { signal: AbortSignal.timeout(2_000) })
      await response.body?.cancel()
      return response.status === 200
    } catch {
      return false
    }
  }

  /** Starts it again and kills it some time later, ready or not. */
  async startAndKill(afterMs: number): Promise<void> {
    this.#launch()
    await this.#context.pause(afterMs)
    await this.kill()
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.stops += 1
    const running = this.#running()
    running.kill('SIGKILL')
    await running.exited
  }

  /** Suspends its process (SIGSTOP); answers a function that resumes it. */
  freeze(): () => void {
    const { pid } = this
    process.kill(pid, 'SIGSTOP')
    let frozen = true
    const resume = (): void => {
      if (frozen) process.kill(pid, 'SIGCONT')
      frozen = false
    }
    // A suspended process could not be stopped at the end.
    this.#context.teardown(async () => resume())
    return resume
  }

  /** Stops it by SIGTERM; answers its exit code (null: a signal ended it) and the time this took. */
  async stop(): Promise<{ readonly code: number | null; readonly ms: number }> {
    this.stops += 1
    const started = performance.now()
    const running = this.#running()
    running.kill('SIGTERM')
    return { code: await running.exited, ms: performance.now() - started }
  }

  #launch(): ServiceProcess & { readonly listening: Promise<void> } {
    this.#earlierOutput = (this.#earlierOutput + (this.#process?.output() ?? '')).slice(-100_000)
    const env = { ...keys, LOG_LEVEL: 'warn', ...this.#env }
    const launched = launchService(this.#context, env, this.#port, this.#folder)
    this.#process = launched
    return launched
  }

  /** Throws when it exits instead of listening. A shared machine may be too busy for a start, which is then repeated. */
  async #launchAndListen(): Promise<void> {
    for (let starts = this.#context.sharesMachine ? MAX_STARTS : 1; ; starts -= 1) {
      const launched = this.#launch()
      const end = await Promise.race([launched.listening, launched.exited])
      if (end === undefined) return
      if (starts === 1 || !launched.output().includes('the database cannot be reached'))
        throw new Error(`${this.origin} ended with ${end ?? 'a signal'} instead of listening`)
    }
  }

  async #untilReady(since: number): Promise<void> {
    while (!(await this.isReady()) || !(await this.probe())) {
      if (performance.now() - since > this.#context.limit(START_TIMEOUT_MS))
        throw new Error(`${this.origin} did not become ready`)
      await this.#context.pause(20)
    }
  }

  #checkReadyTime(ms: number, cpuWaitMs: number, withinMs: number): number {
    this.restarts += 1
    if (ms > this.slowestMs) {
      this.slowestMs = ms
      this.cpuWaitMs = cpuWaitMs
    }
    const duration = `${ms.toFixed(0)} ms, ${cpuWaitMs.toFixed(0)} of them without a processor`
    const withinLimit = ms - cpuWaitMs <= this.#context.limit(withinMs)
    this.#context.expect(withinLimit, `${this.origin} was ready only after ${duration}`)
    return ms
  }

  #running(): ServiceProcess {
    if (this.#process === undefined) throw new Error(`${this.origin} was never started`)
    return this.#process
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

/** How long a process has waited for a processor so far, as others used them; 0 when the kernel does not report it. */
function cpuWaitMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
