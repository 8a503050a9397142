/** Lines a second that requests of one status have. */
const MOST_LINES = 20
const SECOND_MS = 1_000

/**
 * Which requests have a line of their own in the log, so that whoever sends very many bad ones does not fill it. In
 * each second the first of a status have one, and the first one on each route; the others are counted.
 */
export class LineBudget {
  readonly #leftOut: (status: number, count: number) => void
  /** Of this second: what was asked for, as status and route, and how many requests of a status had a line or none. */
  readonly #routes = new Set<string>()
  readonly #statuses = new Map<number, { told: number; leftOut: number }>()
  #second: NodeJS.Timeout | undefined

  /** `leftOut` hears, when the second is over, how many requests of a status had no line. */
  constructor(leftOut: (status: number, count: number) => void) {
    this.#leftOut = leftOut
  }

  /** Whether this request has a line. */
  admits(status: number, route: string): boolean {
    this.#second ??= setTimeout(() => this.close(), SECOND_MS).unref()
    let counted = this.#statuses.get(status)
    if (counted === undefined) this.#statuses.set(status, (counted = { told: 0, leftOut: 0 }))
    const kind = `${status} ${route}`
    const admitted = counted.told < MOST_LINES || !this.#routes.has(kind)
    this.#routes.add(kind)
    if (admitted) counted.told += 1
    else counted.leftOut += 1
    return admitted
  }

  /** Ends the second now. */
  close(): void {
    clearTimeout(this.#second)
    this.#second = undefined
    for (const [status, { leftOut }] of this.#statuses) if (leftOut > 0) this.#leftOut(status, leftOut)
    this.#statuses.clear()
    this.#routes.clear()
  }
}
