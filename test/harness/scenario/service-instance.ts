import { readFileSync } from 'node:fs'
import { freePort } from '../../../src/db/cluster/free-port.ts'
import { launchService, type ServiceProcess } from '../process/service.ts'
import type { ScenarioContext } from './scenario-context.ts'
import { keys } from './service-keys.ts'

/** Within this the service must take requests again after a fault. The very first start makes the database. */
const READY_MS = 5_000
/** A start that takes longer has failed. */
const GIVE_UP_MS = 60_000

/** One instance of the service, which comes back on its port whatever happens to it. */
export class Instance {
  readonly origin: string
  /** A command of a client's, to be done by this instance; it counts as ready only when that succeeds. */
  probe: () => Promise<boolean> = async () => true
  /** How often somebody ended it: then requests that were on their way get no answer. */
  stops = 0
  /** How often it got ready again; the longest time from a fault, or a start after it, to that. */
  restarts = 0
  slowestMs = 0
  /** How much of `slowestMs` its process could have run and had no processor. */
  cpuWaitMs = 0
  readonly #context: ScenarioContext
  readonly #port: number
  readonly #env: Readonly<Record<string, string>>
  #process: ServiceProcess | undefined
  #earlierOutput = ''

  private constructor(context: ScenarioContext, port: number, env: Readonly<Record<string, string>>) {
    this.#context = context
    this.#port = port
    this.#env = env
    this.origin = `http://127.0.0.1:${port}`
    context.attachLog(`instance-${port}`, () => this.#earlierOutput + (this.#process?.output() ?? ''))
  }

  /** Starts one that is stopped at the end of the scenario. */
  static async start(context: ScenarioContext, env: Readonly<Record<string, string>>): Promise<Instance> {
    // Below the ports of outgoing connections: else a client could connect to itself while the instance is away.
    const instance = new Instance(context, await freePort(null), env)
    await instance.#launchAndListen()
    await instance.#untilReady(performance.now())
    return instance
  }

  /** Of the process that runs, or ran last. */
  get pid(): number {
    return this.#running().pid
  }

  /** Starts it again and waits until it is ready; answers how long that took. */
  async start(): Promise<number> {
    const started = performance.now()
    await this.#launchAndListen()
    await this.#untilReady(started)
    return this.#checkReadyTime(performance.now() - started, cpuWaitMs(this.pid), READY_MS)
  }

  /** Waits until it is ready; notes a fault when that is later than it may be after `since`, which was just now. */
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

  /** Starts it again and kills it some time later, wherever it is then. */
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

  /** Stops it where it stands; answers what lets it go on. */
  freeze(): () => void {
    const { pid } = this
    process.kill(pid, 'SIGSTOP')
    let frozen = true
    const resume = (): void => {
      if (frozen) process.kill(pid, 'SIGCONT')
      frozen = false
    }
    // Else it could not even be stopped at the end.
    this.#context.teardown(async () => resume())
    return resume
  }

  /** Asks it to stop; answers its exit code (null: a signal ended it) and how long that took. */
  async stop(): Promise<{ readonly code: number | null; readonly ms: number }> {
    this.stops += 1
    const asked = performance.now()
    const running = this.#running()
    running.kill('SIGTERM')
    return { code: await running.exited, ms: performance.now() - asked }
  }

  #launch(): ServiceProcess & { readonly listening: Promise<void> } {
    this.#earlierOutput = (this.#earlierOutput + (this.#process?.output() ?? '')).slice(-100_000)
    const env = { ...keys, LOG_LEVEL: 'warn', ...this.#env }
    const launched = launchService(this.#context, env, this.#port)
    this.#process = launched
    return launched
  }

  /** Throws when it ends instead of listening. */
  async #launchAndListen(): Promise<void> {
    const { listening, exited } = this.#launch()
    const end = await Promise.race([listening, exited])
    if (end !== undefined) throw new Error(`${this.origin} ended with ${end ?? 'a signal'} instead of listening`)
  }

  async #untilReady(since: number): Promise<void> {
    while (!(await this.isReady()) || !(await this.probe())) {
      if (performance.now() - since > this.#context.limit(GIVE_UP_MS))
        throw new Error(`${this.origin} did not get ready`)
      await this.#context.pause(20)
    }
  }

  #checkReadyTime(ms: number, cpuWaitMs: number, withinMs: number): number {
    this.restarts += 1
    if (ms > this.slowestMs) {
      this.slowestMs = ms
      this.cpuWaitMs = cpuWaitMs
    }
    const what = `${ms.toFixed(0)} ms, ${cpuWaitMs.toFixed(0)} of them without a processor`
    this.#context.expect(ms <= this.#context.limit(withinMs), `${this.origin} was ready only after ${what}`)
    return ms
  }

  #running(): ServiceProcess {
    if (this.#process === undefined) throw new Error(`${this.origin} was never started`)
    return this.#process
  }
}

/**
 * How long a process could have run and had no processor so far: time that others on this machine took. 0 where the
 * kernel does not tell.
 */
function cpuWaitMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
