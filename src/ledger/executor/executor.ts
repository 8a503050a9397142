import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { Evolve } from '../rules/evolve.ts'
import type { RecordedEvent } from '../storage/event-hash.ts'
import type { RowTable } from '../storage/row-table.ts'
import { runBatch } from './batch.ts'
import type { Command } from './command.ts'
import { fail, Line, partOf, type Settled, settle, type Waiting } from './command-queue.ts'
import { blamesACommand, Closed, LostCommit, Moved, Overloaded, Unavailable } from './failures.ts'
import { UsedKeys } from './recent-key-filter.ts'
import { Store } from './store.ts'

export interface Limits {
  /** Commands that may wait; one more is refused with `Overloaded`. */
  readonly queue: number
  /** Commands in one transaction. */
  readonly batch: number
  /** Rows that the commands of one transaction may ask for, when there is more than one. */
  readonly rows: number
  /** A batch that takes longer loses its connection. */
  readonly patienceMs: number
}

const defaultLimits: Limits = { queue: 16_384, batch: 256, rows: 8_192, patienceMs: 10_000 }

/** What the executor tells those who watch it. */
export interface Observer {
  /** `position`: where the ledger ends now. */
  committed(batch: {
    readonly commands: number
    readonly position: number
    readonly seconds: number
    readonly events: readonly RecordedEvent[]
  }): void
  /** A command met a bug; its caller gets an error, its neighbours do not notice. */
  bug(error: unknown, command: Command): void
  /** The database did not take a batch. */
  trouble(error: unknown): void
}

/** A batch on its way to the database. */
interface Flight {
  readonly id: string
  readonly waiting: readonly Waiting[]
  /** It happened: whoever waits is told. */
  readonly land: () => void
  /** Ends when it has landed or failed; never rejects. */
  landing: Promise<void>
  failure?: { readonly error: unknown }
}

/**
 * One line for all commands: what has queued up runs as one transaction, of much a part, in the order of arrival. A lone
 * command goes at once, so there is no timer; under load batches grow by themselves. While one batch is on its way to
 * the database, the next one may be decided on what that one does and sent after it: it happens only if that one did.
 */
export class Executor {
  readonly #url: string
  readonly #tables: readonly RowTable[]
  readonly #evolve: Evolve
  readonly #observer: Observer
  readonly #limits: Limits
  readonly #line = new Line()
  readonly #flying: Flight[] = []
  readonly #usedKeys = new UsedKeys()
  #store: Store | undefined
  /** Whether a step is being made: a batch prepared, or a failure dealt with. */
  #busy = false
  /** Whether the last batch held several commands. */
  #crowded = false
  #closed = false
  #finished: (() => void) | undefined
  #closing: Promise<void> | undefined

  constructor(options: {
    readonly url: string
    readonly tables: readonly RowTable[]
    readonly evolve: Evolve
    readonly observer: Observer
    readonly limits?: Partial<Limits>
  }) {
    this.#url = options.url
    this.#tables = options.tables
    this.#evolve = options.evolve
    this.#observer = options.observer
    this.#limits = { ...defaultLimits, ...options.limits }
  }

  get depth(): number {
    return this.#line.length
  }

  /** Rejects with `Overloaded`, `Unavailable` or `Closed`, or with the bug that the command met. */
  run(command: Command): Promise<Settled> {
    if (this.#closed) return Promise.reject(new Closed('shutting down'))
    if (this.#line.length >= this.#limits.queue) return Promise.reject(new Overloaded('the queue is full'))
    return new Promise((resolve, reject) => {
      this.#line.push({ command, resolve, reject, suspect: false })
      this.#goOn()
    })
  }

  /** Ends when whoever waits for what is on its way to the database now knows what became of it, unless it failed. */
  async landed(): Promise<void> {
    await Promise.all(this.#flying.map(({ landing }) => landing))
  }

  /** Takes no more; what was accepted finishes. Calling it again waits for the same. */
  close(): Promise<void> {
    return (this.#closing ??= this.#finish())
  }

  async #finish(): Promise<void> {
    this.#closed = true
    const finished = new Promise<void>((resolve) => (this.#finished = resolve))
    this.#goOn()
    await finished
    await this.#store?.close()
    this.#store = undefined
  }

  /** Makes the next step, if it is time for one. To be called whenever it might be. */
  #goOn(): void {
    if (this.#busy) return
    if (this.#flying.some(({ failure }) => failure !== undefined)) this.#make(() => this.#recover())
    else if (this.#mayTakeOff()) this.#make(() => this.#takeOff())
    else if (this.#flying.length === 0 && this.#line.length === 0) this.#finished?.()
  }

  #make(step: () => Promise<void>): void {
    this.#busy = true
    void step().finally(() => {
      this.#busy = false
      this.#goOn()
    })
  }

  #mayTakeOff(): boolean {
    const last = this.#flying.at(-1)
    if (last === undefined || this.#line.length === 0) return this.#line.length > 0
    if (this.#store?.ahead !== true) return false
    // A small batch costs the database nearly as much as a large one: as long as one is on its way, waiting for as many
    // again is worth more than leaving at once.
    return this.#line.length >= Math.min(this.#most(), last.waiting.length)
  }

  /** Commands that the next batch may hold. */
  readonly #most = (): number => Math.min(this.#limits.batch, partOf(this.#line.length, this.#flying))

  /** Decides a batch and sends it. */
  async #takeOff(): Promise<void> {
    // Commands that arrive in the same turn of the event loop go together. Node lets promises run after each connection
    // that it has read, so that turn has to be over; but whoever asks alone need not wait for that.
    await (this.#crowded ? turn() : undefined)
    if (this.#flying.some(({ failure }) => failure !== undefined)) return
    const started = performance.now()
    const id = randomUUID()
    const taken = this.#line.take({ batch: this.#most(), rows: this.#limits.rows })
    this.#crowded = taken.length > 1
    const commands = taken.map(({ command }) => command)
    const watchdog = setTimeout(() => this.#store?.cut(), this.#limits.patienceMs)
    try {
      const store = await this.#connected()
      const opened = await store.begin(commands)
      const batch = runBatch(commands, opened.rows, opened.remembered, opened.head, opened.now, this.#evolve)
      const { outcomes, events, head } = batch
      const waiting = taken.slice(0, outcomes.length)
      this.#line.putBack(taken.slice(outcomes.length))
      const land = (): void => {
        settle(waiting, outcomes, this.#hearOfBug)
        const seconds = (performance.now() - started) / 1000
        this.#tell(() =>
          this.#observer.committed({ commands: waiting.length, position: head.position, seconds, events }),
        )
      }
      const idle = events.length === 0 && batch.replies.length === 0 && !opened.rows.dirty
      const sent = idle ? store.leave(opened) : store.commit(id, opened, batch)
      this.#fly({ id, waiting, land, landing: Promise.resolve() }, sent, watchdog)
    } catch (error) {
      const nowhere = { id, waiting: taken, land: () => {}, landing: Promise.resolve() }
      this.#fly(nowhere, Promise.reject(error), watchdog)
    }
  }

  #fly(flight: Flight, sent: Promise<void>, watchdog: NodeJS.Timeout): void {
    this.#flying.push(flight)
    flight.landing = this.#land(flight, sent).finally(() => {
      clearTimeout(watchdog)
      this.#goOn()
    })
  }

  async #land(flight: Flight, sent: Promise<void>): Promise<void> {
    try {
      await sent
      this.#flying.splice(this.#flying.indexOf(flight), 1)
      flight.land()
    } catch (error) {
      flight.failure = { error }
    }
  }

  /** Something went wrong: finds out what became of each batch, and starts from what the database holds. */
  async #recover(): Promise<void> {
    await Promise.all(this.#flying.map(({ landing }) => landing))
    const store = this.#store
    // The connection may still be committing; without it that comes to an end.
    if (this.#flying.some(({ failure }) => failure?.error instanceof LostCommit)) store?.cut()
    // So long their callers can be expected to wait, however many they are.
    const until = performance.now() + this.#limits.patienceMs
    if (store !== undefined) await withPatience(store, until, store.forget())
    const again: Waiting[] = []
    // Those that were before the first failure have landed.
    for (const [i, flight] of this.#flying.splice(0).entries()) {
      again.push(...(await this.#mend(flight, { behind: i > 0, broken: store?.broken !== false, until })))
    }
    this.#line.putBack(again)
  }

  /**
   * Tells the callers of a batch that failed; answers those whose commands are to be tried again. One that was `behind`
   * another when the connection was lost has met no trouble of its own.
   */
  async #mend(
    { id, waiting, land, failure }: Flight,
    { behind, broken, until }: { readonly behind: boolean; readonly broken: boolean; readonly until: number },
  ): Promise<readonly Waiting[]> {
    const error = failure?.error
    if (error instanceof Moved) return waiting
    this.#tell(() => this.#observer.trouble(error))
    if (error instanceof LostCommit) {
      try {
        if (await this.#happened(id, until)) land()
        else if (behind) return waiting
        else fail(waiting, new Unavailable('the batch did not happen', { cause: error }))
      } catch (unknown) {
        fail(waiting, new Unavailable('the answer to COMMIT stayed lost', { cause: unknown }))
      }
      return []
    }
    if (error instanceof Unavailable || broken || !blamesACommand(error)) {
      fail(waiting, new Unavailable('the database did not take the batch', { cause: error }))
      return []
    }
    if (waiting.length > 1) return waiting.map((one) => ({ ...one, suspect: true }))
    settle(waiting, [{ bug: error }], this.#hearOfBug)
    return []
  }

  /** Asks the database whether the batch happened, until then. */
  async #happened(id: string, until: number): Promise<boolean> {
    for (;;) {
      try {
        const store = await this.#connected()
        return await withPatience(store, until, store.committed(id))
      } catch (error) {
        if (performance.now() > until) throw error
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }

  async #connected(): Promise<Store> {
    if (this.#store !== undefined && !this.#store.broken) return this.#store
    this.#store?.cut()
    this.#store = undefined
    try {
      this.#store = await Store.connect(this.#url, this.#tables, this.#usedKeys)
      return this.#store
    } catch (error) {
      const away = new Unavailable('the database is away', { cause: error })
      // Whoever waits would find the same; the next command tries again.
      fail(this.#line.takeAll(), away)
      throw away
    }
  }

  readonly #hearOfBug = (error: unknown, command: Command): void => this.#tell(() => this.#observer.bug(error, command))

  /** A fault in whoever watches is not the commands'. */
  #tell(what: () => void): void {
    try {
      what()
    } catch (error) {
      this.#observer.trouble(error)
    }
  }
}

/** The work, of a server that may fall silent over it: then it is cut. */
async function withPatience<T>(store: Store, until: number, work: Promise<T>): Promise<T> {
  const watchdog = setTimeout(() => store.cut(), Math.max(0, until - performance.now()))
  try {
    return await work
  } finally {
    clearTimeout(watchdog)
  }
}
