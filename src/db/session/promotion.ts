const POLL_INTERVAL_MS = 1_000

/** Whether the database is a standby, which takes no writes; asked again every second until it is promoted. */
export class Promotion {
  #isStandby: boolean
  /** Resolves once the database takes writes. */
  readonly promoted: Promise<void>
  readonly #timer: NodeJS.Timeout | undefined

  constructor(isStandby: boolean, isInRecovery: () => Promise<boolean>) {
    this.#isStandby = isStandby
    const { promise, resolve } = Promise.withResolvers<void>()
    this.promoted = promise
    if (!isStandby) {
      resolve()
      return
    }
    const poll = async (): Promise<void> => {
      if (await isInRecovery()) return
      this.#isStandby = false
      this.stop()
      resolve()
    }
    this.#timer = setInterval(() => void poll().catch(() => {}), POLL_INTERVAL_MS)
  }

  get isStandby(): boolean {
    return this.#isStandby
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
