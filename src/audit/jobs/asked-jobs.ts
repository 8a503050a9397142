import { setTimeout as sleep } from 'node:timers/promises'
import type { Progress } from './job-rows.ts'
import { JobStopped, type Jobs, type RunningJob, type SharedJob, type Work } from './jobs.ts'

/** What is asked for, and how it is made. */
export interface AskedKind<Asked, Result> {
  /** Its subject tells it from others. */
  readonly jobOf: (asked: Asked) => SharedJob
  /** A result that takes no job; null for one that does. */
  readonly short: (asked: Asked) => Promise<Result | null>
  readonly work: (asked: Asked) => Work<Result>
}

export interface AskedLimits {
  /** Jobs that run at a time on an instance. */
  readonly running: number
  /** How long a request waits before it says how far the job is, unless it names a time of its own. */
  readonly waitMs: number
  /** A job that nobody has asked for during so long is ended; one that was stopped does not begin again for so long. */
  readonly unaskedMs: number
}
const LIMITS: AskedLimits = { running: 2, waitMs: 1_000, unaskedMs: 60_000 }

/** A result, or how far it is. */
export type Looked<Result> = { readonly result: Result } | { readonly result: null; readonly progress: Progress }

interface Running<Result> {
  readonly started: Promise<RunningJob<Result>>
  readonly unasked: NodeJS.Timeout
  isEnding: boolean
}

/**
 * Results of which long ones are made by jobs that run while somebody asks for them: a request says how far the job is, and
 * the next one finds it further.
 */
export class AskedJobs<Asked, Result extends object> {
  readonly #jobs: Jobs
  readonly #kind: AskedKind<Asked, Result>
  readonly #limits: AskedLimits
  readonly #running = new Map<string, Running<Result>>()

  constructor(jobs: Jobs, kind: AskedKind<Asked, Result>, limits: Partial<AskedLimits> = {}) {
    this.#jobs = jobs
    this.#kind = kind
    this.#limits = { ...LIMITS, ...limits }
  }

  /** How many jobs run. */
  get running(): number {
    return [...this.#running.values()].filter(({ isEnding }) => !isEnding).length
  }

  /** The result, or after a moment how far it is. */
  async look(asked: Asked, waitMs = this.#limits.waitMs): Promise<Looked<Result>> {
    const short = await this.#kind.short(asked)
    if (short !== null) return { result: short }
    const job = this.#kind.jobOf(asked)
    const running = this.#running.get(job.subject) ?? this.#start(job, this.#kind.work(asked))
    const late = sleep(waitMs, null, { ref: false })
    if (running === null || running.isEnding) {
      // A caller that asks again at once must not keep this thread from ending the other jobs.
      await late
      return { result: null, progress: { events: 0, of: job.of } }
    }
    running.unasked.refresh()
    const started = await running.started
    const result = await Promise.race([started.ended, late]).catch((error: unknown) => {
      if (error instanceof JobStopped) return null
      throw error
    })
    return result === null ? { result, progress: started.progress() } : { result }
  }

  /** The result, however long it takes; rejects when `signal` is aborted. */
  async whole(asked: Asked, signal: AbortSignal): Promise<Result> {
    for (;;) {
      signal.throwIfAborted()
      const { result } = await this.look(asked)
      if (result !== null) return result
    }
  }

  /** Null while as many run as may. */
  #start(job: SharedJob, work: Work<Result>): Running<Result> | null {
    if (this.running >= this.#limits.running) return null
    const abandoned = new AbortController()
    const abandon = (): void => {
      running.isEnding = true
      abandoned.abort(new Error('nobody asked for it any more'))
    }
    const started = this.#jobs.start(job, work, { signal: abandoned.signal })
    const running: Running<Result> = { started, unasked: setTimeout(abandon, this.#limits.unaskedMs), isEnding: false }
    this.#running.set(job.subject, running)
    const forget = (): void => void this.#running.delete(job.subject)
    started
      .then(({ ended }) => ended)
      .finally(() => clearTimeout(running.unasked))
      .then(forget, (error: unknown) => {
        running.isEnding = true
        // Pages that still ask must not begin it again at once.
        if (error instanceof JobStopped) setTimeout(forget, this.#limits.unaskedMs).unref()
        else forget()
      })
    return running
  }
}
