import { readFileSync } from 'node:fs'
import { freePort } from '../../../src/db/cluster/free-port.ts'
import { keys } from '../../soak/load/people.ts'
import { launchService, type ServiceProcess } from '../process/service.ts'
import type { Stage } from './scenario-context.ts'

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
  ended = 0
  /** How often it got ready again; the longest time from a fault, or a start after it, to that. */
  times = 0
  slowestMs = 0
  /** How much of `slowestMs` its process could have run and had no processor. */
  waitedMs = 0
  readonly #stage: Stage
  readonly #port: number
  readonly #environment: Readonly<Record<string, string>>
  #process: ServiceProcess | undefined
  #said = ''

  private constructor(stage: Stage, port: number, environment: Readonly<Record<string, string>>) {
    this.#stage = stage
    this.#port = port
    this.#environment = environment
    this.origin = `http://127.0.0.1:${port}`
    stage.keep(`instance-${port}`, () => this.#said + (this.#process?.output() ?? ''))
  }

  /** Starts one that is stopped at the end of the scenario. */
  static async start(stage: Stage, environment: Readonly<Record<string, string>>): Promise<Instance> {
    // Below the ports of outgoing connections: else a client could connect to itself while the instance is away.
    const instance = new Instance(stage, await freePort(null), environment)
    await instance.#run()
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
    await this.#run()
    await this.#untilReady(started)
    return this.#judge(performance.now() - started, waitedBy(this.pid), READY_MS)
  }

  /** Waits until it is ready; notes a fault when that is later than it may be after `since`, which was just now. */
  async ready(since: number, withinMs = READY_MS): Promise<number> {
    const before = waitedBy(this.pid)
    await this.#untilReady(since)
    return this.#judge(performance.now() - since, waitedBy(this.pid) - before, withinMs)
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
    await this.#stage.pause(afterMs)
    await this.kill()
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.ended += 1
    const running = this.#running()
    running.kill('SIGKILL')
    await running.exited
  }

  /** Stops it where it stands; answers what lets it go on. */
  freeze(): () => void {
    const { pid } = this
    process.kill(pid, 'SIGSTOP')
    let frozen = true
    const goOn = (): void => {
      if (frozen) process.kill(pid, 'SIGCONT')
      frozen = false
    }
    // Else it could not even be stopped at the end.
    this.#stage.teardown(async () => goOn())
    return goOn
  }

  /** Asks it to stop; answers its exit code (null: a signal ended it) and how long that took. */
  async stop(): Promise<{ readonly code: number | null; readonly ms: number }> {
    this.ended += 1
    const asked = performance.now()
    const running = this.#running()
    running.kill('SIGTERM')
    return { code: await running.exited, ms: performance.now() - asked }
  }

  #launch(): ServiceProcess & { readonly listening: Promise<void> } {
    this.#said = (this.#said + (this.#process?.output() ?? '')).slice(-100_000)
    const environment = { ...keys, LOG_LEVEL: 'warn', ...this.#environment }
    const launched = launchService(this.#stage, environment, this.#port)
    this.#process = launched
    return launched
  }

  /** Throws when it ends instead of listening. */
  async #run(): Promise<void> {
    const { listening, exited } = this.#launch()
    const end = await Promise.race([listening, exited])
    if (end !== undefined) throw new Error(`${this.origin} ended with ${end ?? 'a signal'} instead of listening`)
  }

  async #untilReady(since: number): Promise<void> {
    while (!(await this.isReady()) || !(await this.probe())) {
      if (performance.now() - since > this.#stage.limit(GIVE_UP_MS)) throw new Error(`${this.origin} did not get ready`)
      await this.#stage.pause(20)
    }
  }

  #judge(ms: number, waitedMs: number, withinMs: number): number {
    this.times += 1
    if (ms > this.slowestMs) {
      this.slowestMs = ms
      this.waitedMs = waitedMs
    }
    const what = `${ms.toFixed(0)} ms, ${waitedMs.toFixed(0)} of them without a processor`
    this.#stage.expect(ms <= this.#stage.limit(withinMs), `${this.origin} was ready only after ${what}`)
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
function waitedBy(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
