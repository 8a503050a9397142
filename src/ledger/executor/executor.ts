import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { Evolve } from '../rules/evolve.ts'
import type { StoredEvent } from '../storage/event-hash.ts'
import type { RowTable } from '../storage/row-table.ts'
import { decideBatch } from './batch.ts'
import type { Command } from './command.ts'
import {
  batchShare,
  CommandQueue,
  type CommandResult,
  type PendingCommand,
  rejectAll,
  settleAll,
} from './command-queue.ts'
import { Closed, CommitOutcomeUnknown, HeadConflict, isCausedByCommand, Overloaded, Unavailable } from './failures.ts'
import { RecentKeyFilter } from './recent-key-filter.ts'
import { Store } from './store.ts'

export interface Limits {
  /** Commands that may wait; one more is refused with `Overloaded`. */
  readonly maxQueued: number
  /** Commands in one transaction. */
  readonly maxBatchCommands: number
  /** Rows that the commands of one transaction may ask for, when there is more than one. */
  readonly maxBatchRows: number
  /** A batch that takes longer loses its connection. */
  readonly batchTimeoutMs: number
}

const defaultLimits: Limits = { maxQueued: 16_384, maxBatchCommands: 256, maxBatchRows: 8_192, batchTimeoutMs: 10_000 }

/** What the executor tells those who watch it. */
export interface Observer {
  /** `position`: where the ledger ends now. */
  committed(batch: {
    readonly commands: number
    readonly position: number
    readonly seconds: number
    readonly events: readonly StoredEvent[]
  }): void
  /** A command met a bug; its caller gets an error, its neighbours do not notice. */
  bug(error: unknown, command: Command): void
  /** The database did not take a batch. */
  failed(error: unknown): void
}

/** A batch on its way to the database. */
interface InFlightBatch {
  readonly id: string
  readonly commands: readonly PendingCommand[]
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
  readonly #queue = new CommandQueue()
  readonly #inFlight: InFlightBatch[] = []
  readonly #recentKeys = new RecentKeyFilter()
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
    return this.#queue.length
  }

  /** Rejects with `Overloaded`, `Unavailable` or `Closed`, or with the bug that the command met. */
  run(command: Command): Promise<CommandResult> {
    if (this.#closed) return Promise.reject(new Closed('shutting down'))
    if (this.#queue.length >= this.#limits.maxQueued) return Promise.reject(new Overloaded('the queue is full'))
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, resolve, reject, runAlone: false })
      this.#step()
    })
  }

  /** Ends when whoever waits for what is on its way to the database now knows what became of it, unless it failed. */
  async waitForInFlight(): Promise<void> {
    await Promise.all(this.#inFlight.map(({ landing }) => landing))
  }

  /** Takes no more; what was accepted finishes. Calling it again waits for the same. */
  close(): Promise<void> {
    return (this.#closing ??= this.#finish())
  }

  async #finish(): Promise<void> {
    this.#closed = true
    const finished = new Promise<void>((resolve) => (this.#finished = resolve))
    this.#step()
    await finished
    await this.#store?.close()
    this.#store = undefined
  }

  /** Makes the next step, if it is time for one. To be called whenever it might be. */
  #step(): void {
    if (this.#busy) return
    if (this.#inFlight.some(({ failure }) => failure !== undefined)) this.#runStep(() => this.#recover())
    else if (this.#canDispatch()) this.#runStep(() => this.#dispatch())
    else if (this.#inFlight.length === 0 && this.#queue.length === 0) this.#finished?.()
  }

  #runStep(step: () => Promise<void>): void {
    this.#busy = true
    void step().finally(() => {
      this.#busy = false
      this.#step()
    })
  }

  #canDispatch(): boolean {
    const last = this.#inFlight.at(-1)
    if (last === undefined || this.#queue.length === 0) return this.#queue.length > 0
    if (this.#store?.canPipeline !== true) return false
    // A small batch costs the database nearly as much as a large one: as long as one is on its way, waiting for as many
    // again is worth more than leaving at once.
    return this.#queue.length >= Math.min(this.#maxCommands(), last.commands.length)
  }

  /** Commands that the next batch may hold. */
  readonly #maxCommands = (): number =>
    Math.min(this.#limits.maxBatchCommands, batchShare(this.#queue.length, this.#inFlight))

  /** Decides a batch and sends it. */
  async #dispatch(): Promise<void> {
    // Commands that arrive in the same turn of the event loop go together. Node lets promises run after each connection
    // that it has read, so that turn has to be over; but whoever asks alone need not wait for that.
    await (this.#crowded ? turn() : undefined)
    if (this.#inFlight.some(({ failure }) => failure !== undefined)) return
    const started = performance.now()
    const id = randomUUID()
    const taken = this.#queue.take({ batch: this.#maxCommands(), rows: this.#limits.maxBatchRows })
    this.#crowded = taken.length > 1
    const commands = taken.map(({ command }) => command)
    const watchdog = setTimeout(() => this.#store?.cut(), this.#limits.batchTimeoutMs)
    try {
      const store = await this.#connected()
      const opened = await store.open(commands)
      const batch = decideBatch(commands, opened.rows, opened.storedReplies, opened.head, opened.now, this.#evolve)
      const { outcomes, events, head } = batch
      const waiting = taken.slice(0, outcomes.length)
      this.#queue.requeue(taken.slice(outcomes.length))
      const land = (): void => {
        settleAll(waiting, outcomes, this.#reportBug)
        const seconds = (performance.now() - started) / 1000
        this.#notifyObserver(() =>
          this.#observer.committed({ commands: waiting.length, position: head.position, seconds, events }),
        )
      }
      const idle = events.length === 0 && batch.replies.length === 0 && !opened.rows.isDirty
      const sent = idle ? store.finishReadOnly(opened) : store.commit(id, opened, batch)
      this.#track({ id, commands: waiting, land, landing: Promise.resolve() }, sent, watchdog)
    } catch (error) {
      const nowhere = { id, commands: taken, land: () => {}, landing: Promise.resolve() }
      this.#track(nowhere, Promise.reject(error), watchdog)
    }
  }

  #track(flight: InFlightBatch, sent: Promise<void>, watchdog: NodeJS.Timeout): void {
    this.#inFlight.push(flight)
    flight.landing = this.#complete(flight, sent).finally(() => {
      clearTimeout(watchdog)
      this.#step()
    })
  }

  async #complete(flight: InFlightBatch, sent: Promise<void>): Promise<void> {
    try {
      await sent
      this.#inFlight.splice(this.#inFlight.indexOf(flight), 1)
      flight.land()
    } catch (error) {
      flight.failure = { error }
    }
  }

  /** Something went wrong: finds out what became of each batch, and starts from what the database holds. */
  async #recover(): Promise<void> {
    await Promise.all(this.#inFlight.map(({ landing }) => landing))
    const store = this.#store
    // The connection may still be committing; without it that comes to an end.
    if (this.#inFlight.some(({ failure }) => failure?.error instanceof CommitOutcomeUnknown)) store?.cut()
    // So long their callers can be expected to wait, however many they are.
    const until = performance.now() + this.#limits.batchTimeoutMs
    if (store !== undefined) await withDeadline(store, until, store.reset())
    const again: PendingCommand[] = []
    // Those that were before the first failure have landed.
    for (const [i, flight] of this.#inFlight.splice(0).entries()) {
      again.push(...(await this.#resolveFailure(flight, { behind: i > 0, broken: store?.isBroken !== false, until })))
    }
    this.#queue.requeue(again)
  }

  /**
   * Tells the callers of a batch that failed; answers those whose commands are to be tried again. One that was `behind`
   * another when the connection was lost has met no trouble of its own.
   */
  async #resolveFailure(
    { id, commands: waiting, land, failure }: InFlightBatch,
    { behind, broken, until }: { readonly behind: boolean; readonly broken: boolean; readonly until: number },
  ): Promise<readonly PendingCommand[]> {
    const error = failure?.error
    if (error instanceof HeadConflict) return waiting
    this.#notifyObserver(() => this.#observer.failed(error))
    if (error instanceof CommitOutcomeUnknown) {
      try {
        if (await this.#isCommitted(id, until)) land()
        else if (behind) return waiting
        else rejectAll(waiting, new Unavailable('the batch did not happen', { cause: error }))
      } catch (unknown) {
        rejectAll(waiting, new Unavailable('the answer to COMMIT stayed lost', { cause: unknown }))
      }
      return []
    }
    if (error instanceof Unavailable || broken || !isCausedByCommand(error)) {
      rejectAll(waiting, new Unavailable('the database did not take the batch', { cause: error }))
      return []
    }
    if (waiting.length > 1) return waiting.map((one) => ({ ...one, runAlone: true }))
    settleAll(waiting, [{ bug: error }], this.#reportBug)
    return []
  }

  /** Asks the database whether the batch happened, until then. */
  async #isCommitted(id: string, until: number): Promise<boolean> {
    for (;;) {
      try {
        const store = await this.#connected()
        return await withDeadline(store, until, store.isCommitted(id))
      } catch (error) {
        if (performance.now() > until) throw error
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }

  async #connected(): Promise<Store> {
    if (this.#store !== undefined && !this.#store.isBroken) return this.#store
    this.#store?.cut()
    this.#store = undefined
    try {
      this.#store = await Store.connect(this.#url, this.#tables, this.#recentKeys)
      return this.#store
    } catch (error) {
      const away = new Unavailable('the database is away', { cause: error })
      // Whoever waits would find the same; the next command tries again.
      rejectAll(this.#queue.takeAll(), away)
      throw away
    }
  }

  readonly #reportBug = (error: unknown, command: Command): void =>
    this.#notifyObserver(() => this.#observer.bug(error, command))

  /** A fault in whoever watches is not the commands'. */
  #notifyObserver(what: () => void): void {
    try {
      what()
    } catch (error) {
      this.#observer.failed(error)
    }
  }
}

/** The work, of a server that may fall silent over it: then it is cut. */
async function withDeadline<T>(store: Store, until: number, work: Promise<T>): Promise<T> {
  const watchdog = setTimeout(() => store.cut(), Math.max(0, until - performance.now()))
  try {
    return await work
  } finally {
    clearTimeout(watchdog)
  }
}
