/** How long sockets are opened in one turn of the event loop; requests wait for it. */
const SLICE_MS = 4

/**
 * Opens sockets in the order in which they ask, some in each turn of the event loop, so that requests get their share
 * when thousands of clients come back at once.
 */
export class UpgradeQueue {
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  /** The next turn's slice. */
  #slice: NodeJS.Immediate | undefined

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /** Upgrades in hand. */
  get size(): number {
    return this.#waiting.length
  }

  /** Calls `open` when its turn has come, at once if no other waits. False when too many wait. */
  enter(open: () => void): boolean {
    if (this.#waiting.length >= this.#maxWaiting) return false
    this.#waiting.push(open)
    if (this.#slice === undefined) this.#openSome()
    return true
  }

  #openSome(): void {
    const deadline = performance.now() + SLICE_MS
    do this.#waiting.shift()?.()
    while (this.#waiting.length > 0 && performance.now() < deadline)
    // Also when none is left: a turn has one slice.
    this.#slice = setImmediate(() => {
      this.#slice = undefined
      if (this.#waiting.length > 0) this.#openSome()
    })
  }
}
