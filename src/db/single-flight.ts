/** Runs `work` once at a time: who asks while it runs shares its result. */
export class SingleFlight<Result> {
  readonly #work: () => Promise<Result>
  #running: Promise<Result> | undefined

  constructor(work: () => Promise<Result>) {
    this.#work = work
  }

  /** What runs now. */
  get running(): Promise<Result> | undefined {
    return this.#running
  }

  run(): Promise<Result> {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }
}
