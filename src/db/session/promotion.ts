import { setTimeout as sleep } from 'node:timers/promises'

const POLL_INTERVAL_MS = 1_000
const RETRY_INTERVAL_MS = 1_000

/** Whether the database is a standby, which takes no writes; asked again every second until it is promoted. */
export class Promotion {
  #isStandby: boolean
  readonly #promoted: Promise<void>
  readonly #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(isStandby: boolean, isInRecovery: () => Promise<boolean>) {
    this.#isStandby = isStandby
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#promoted = promise
    if (!isStandby) {
      resolve()
      return
    }
    const poll = async (): Promise<void> => {
      if (await isInRecovery()) return
      this.#isStandby = false
      clearInterval(this.#timer)
      resolve()
    }
    this.#timer = setInterval(() => void poll().catch(() => {}), POLL_INTERVAL_MS)
  }

  get isStandby(): boolean {
    return this.#isStandby
  }

  /**
   * Calls `work` once the database takes writes, again and again until it succeeds or `stop` is called. Never rejects:
   * `onFailure` gets the errors.
   */
  async whenPromoted(work: () => Promise<void>, onFailure: (error: unknown) => void): Promise<void> {
    await this.#promoted
    while (!this.#isStopped) {
      try {
        await work()
        return
      } catch (error) {
        onFailure(error)
      }
      await sleep(RETRY_INTERVAL_MS)
    }
  }

  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }
}
