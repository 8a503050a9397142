import { randomUUID } from 'node:crypto'
import { setImmediate as eventLoopTurn } from 'node:timers/promises'
import { isReadOnlyError } from '../../db/postgres-errors.ts'
import type { Evolve } from '../rules/event.ts'
import type { StoredEvent } from '../storage/event-hash.ts'
import type { RowTable } from '../storage/row-table.ts'
import { decideBatch } from './batch.ts'
import type { Command } from './command.ts'
import {
  batchShare,
  CommandQueue,
  type CommandResult,
  enterBatchState,
  type InFlightBatch,
  type PendingCommand,
  rejectAll,
  StallWatch,
  settleAll,
} from './command-queue.ts'
import {
  Closed,
  CommitOutcomeUnknown,
  DatabaseIsStandby,
  HeadConflict,
  isCausedByCommand,
  LedgerWentBack,
  Overloaded,
  Unavailable,
} from './failures.ts'
import { type AssertLedger } from './pipelined-connection.ts'
import { RecentKeyFilter } from './recent-key-filter.ts'
import { type Activity, activities, assertTransition } from './states.ts'
import { Store } from './store.ts'

export interface Limits {
  /** Commands that may wait; one more is rejected with `Overloaded`. */
  readonly maxQueued: number
  /** Commands in one transaction. */
  readonly maxBatchCommands: number
  /** Rows that the commands of one transaction may read, when there is more than one command. */
  readonly maxBatchRows: number
  /** A batch that takes longer loses its connection. */
  readonly batchTimeoutMs: number
}

const defaultLimits: Limits = { maxQueued: 16_384, maxBatchCommands: 256, maxBatchRows: 8_192, batchTimeoutMs: 10_000 }

const OUTCOME_RETRY_MS = 100

export interface Observer {
  /** `position`: where the ledger ends now. */
  committed(batch: {
    readonly commands: number
    readonly position: number
    readonly seconds: number
    readonly events: readonly StoredEvent[]
  }): void
  /** A command failed with a bug; its caller gets an error, the other commands of the batch are not affected. */
  bug(error: unknown, command: Command): void
  /** A batch could not be written, or an observer threw. */
  failed(error: unknown): void
}

/**
 * One queue for all commands. What is queued is committed as one transaction, in the order of arrival; a long queue a
 * third at a time. A lone command goes at once, so there is no timer, and batches grow with the load. While a batch is
 * in flight the next one may be decided on its effects and sent after it: it commits only if that one did.
 *
 * README.md of the ledger describes the life of a batch.
 */
export class Executor {
  readonly #url: string
  readonly #tables: readonly RowTable[]
  readonly #evolve: Evolve
  readonly #observer: Observer
  readonly #assertLedger: AssertLedger | undefined
  readonly #limits: Limits
  readonly #queue = new CommandQueue()
  readonly #inFlight: InFlightBatch[] = []
  readonly #recentKeys = new RecentKeyFilter()
  readonly #stall = new StallWatch()
  #store: Store | undefined
  #activity: Activity = 'idle'
  #lastBatchSize = 0
  /** Set once the executor takes no more commands. */
  #closing: Promise<void> | undefined
  #resolveDrained: (() => void) | undefined

  constructor(options: {
    readonly url: string
    readonly tables: readonly RowTable[]
    readonly evolve: Evolve
    readonly observer: Observer
    /** Called on each new connection before anything else is asked through it. */
    readonly assertLedger?: AssertLedger
    readonly limits?: Partial<Limits>
  }) {
    this.#url = options.url
    this.#tables = options.tables
    this.#evolve = options.evolve
    this.#observer = options.observer
    this.#assertLedger = options.assertLedger
    this.#limits = { ...defaultLimits, ...options.limits }
  }

  get depth(): number {
    return this.#queue.length
  }

  /** How long commands have been waiting while nothing was committed, in milliseconds; 0 when none wait. */
  get stalledMs(): number {
    return this.#stall.stalledMs
  }

  /** Rejects with `Overloaded`, `Unavailable` or `Closed`, or with the bug of the command. */
  run(command: Command): Promise<CommandResult> {
    if (this.#closing !== undefined) return Promise.reject(new Closed('shutting down'))
    if (this.#queue.length >= this.#limits.maxQueued) return Promise.reject(new Overloaded('the queue is full'))
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, resolve, reject, mustRunAlone: false })
      this.#stall.waiting()
      this.#step()
    })
  }

  /** Resolves once the batches now in flight are committed, and their callers have their replies, or failed. */
  async waitForInFlight(): Promise<void> {
    await Promise.all(this.#inFlight.map(({ completion }) => completion))
  }

  /** Takes no more commands and finishes those accepted. Further calls wait for the same. */
  close(): Promise<void> {
    return (this.#closing ??= this.#drain())
  }

  async #drain(): Promise<void> {
    const drained = new Promise<void>((resolve) => (this.#resolveDrained = resolve))
    this.#step()
    await drained
    await this.#store?.close()
    this.#store = undefined
  }

  /** Takes the next step, if one is due. Called whenever anything has changed. */
  #step(): void {
    if (this.#activity !== 'idle') return
    if (this.#hasFailure()) this.#perform('recovering', () => this.#recover())
    else if (this.#canDispatch()) this.#perform('dispatching', () => this.#dispatch())
    else if (this.#inFlight.length === 0 && this.#queue.length === 0 && this.#resolveDrained !== undefined) {
      this.#enter('closed')
      this.#resolveDrained()
    }
  }

  #perform(activity: Activity, work: () => Promise<void>): void {
    this.#enter(activity)
    void work().finally(() => {
      this.#enter('idle')
      this.#step()
    })
  }

  #enter(activity: Activity): void {
    assertTransition(activities, this.#activity, activity)
    this.#activity = activity
  }

  /** Whether commands wait for their results. */
  #hasCommands(): boolean {
    return this.#activity === 'dispatching' || this.#inFlight.length > 0 || this.#queue.length > 0
  }

  #hasFailure(): boolean {
    return this.#inFlight.some(({ state }) => state === 'failed')
  }

  #canDispatch(): boolean {
    const last = this.#inFlight.at(-1)
    if (last === undefined || this.#queue.length === 0) return this.#queue.length > 0
    if (this.#store?.canPipeline !== true) return false
    // A small batch costs the database nearly as much as a large one: while one is in flight, waiting until as many
    // commands are queued again gains more than sending at once.
    return this.#queue.length >= Math.min(this.#nextBatchSize(), last.commands.length)
  }

  /** How many commands the next batch may have. */
  #nextBatchSize(): number {
    return Math.min(this.#limits.maxBatchCommands, batchShare(this.#queue.length, this.#inFlight))
  }

  /** Decides a batch and sends it. */
  async #dispatch(): Promise<void> {
    // Commands that arrive in one turn of the event loop share a batch. Node runs promise callbacks after each socket it
    // has read, so the turn has to end first; a caller who is alone need not wait for that.
    await (this.#lastBatchSize > 1 ? eventLoopTurn() : undefined)
    if (this.#hasFailure()) return
    const started = performance.now()
    const id = randomUUID()
    const taken = this.#queue.take({ commands: this.#nextBatchSize(), rows: this.#limits.maxBatchRows })
    this.#lastBatchSize = taken.length
    const watchdog = setTimeout(() => this.#store?.cut(), this.#limits.batchTimeoutMs)
    try {
      const commands = taken.map(({ command }) => command)
      const store = await this.#connect()
      const context = await store.open(commands)
      const batch = decideBatch(commands, context.rows, context.storedReplies, context.head, context.now, this.#evolve)
      const { outcomes, events, head } = batch
      const decided = taken.slice(0, outcomes.length)
      this.#queue.requeue(taken.slice(outcomes.length))
      const settle = (): void => {
        settleAll(decided, outcomes, this.#reportBug)
        const seconds = (performance.now() - started) / 1000
        this.#notifyObserver(() =>
          this.#observer.committed({ commands: decided.length, position: head.position, seconds, events }),
        )
      }
      const writesNothing = events.length === 0 && batch.replies.length === 0 && !context.rows.isDirty
      const sent = writesNothing ? store.finishReadOnly(context) : store.commit(id, context, batch)
      this.#track(id, decided, settle, sent, watchdog)
    } catch (error) {
      this.#track(id, taken, () => {}, Promise.reject(error), watchdog)
    }
  }

  #track(
    id: string,
    commands: readonly PendingCommand[],
    settle: () => void,
    sent: Promise<void>,
    watchdog: NodeJS.Timeout,
  ): void {
    const batch: InFlightBatch = {
      id,
      commands,
      settle,
      state: 'in flight',
      error: undefined,
      completion: Promise.resolve(),
    }
    this.#inFlight.push(batch)
    batch.completion = this.#complete(batch, sent).finally(() => {
      clearTimeout(watchdog)
      this.#step()
    })
  }

  async #complete(batch: InFlightBatch, sent: Promise<void>): Promise<void> {
    try {
      await sent
    } catch (error) {
      enterBatchState(batch, 'failed')
      batch.error = error
      return
    }
    enterBatchState(batch, 'committed')
    this.#inFlight.splice(this.#inFlight.indexOf(batch), 1)
    this.#stall.progressed(this.#hasCommands())
    batch.settle()
  }

  /** Finds out what became of each batch in flight, and starts again from what the database has. */
  async #recover(): Promise<void> {
    await this.waitForInFlight()
    const store = this.#store
    // The connection may still be committing; cutting it ends that.
    if (this.#inFlight.some(({ error }) => error instanceof CommitOutcomeUnknown)) store?.cut()
    // One deadline for all batches: their callers do not wait longer because there are more of them.
    const deadline = performance.now() + this.#limits.batchTimeoutMs
    if (store !== undefined) await withDeadline(store, deadline, store.reset())
    const requeued: PendingCommand[] = []
    // Batches before the first failure have committed and are not among these.
    for (const [i, batch] of this.#inFlight.splice(0).entries()) {
      const isConnectionLost = store?.isBroken !== false
      requeued.push(...(await this.#resolveFailure(batch, { followsFailure: i > 0, isConnectionLost, deadline })))
      enterBatchState(batch, 'resolved')
    }
    this.#queue.requeue(requeued)
    if (!this.#hasCommands()) this.#stall.failed()
  }

  /**
   * Settles or rejects the callers of a failed batch; returns the commands to try again. A batch that
   * follows the one that failed, on a connection that was lost, has done nothing wrong itself.
   */
  async #resolveFailure(
    { id, commands, settle, error }: InFlightBatch,
    {
      followsFailure,
      isConnectionLost,
      deadline,
    }: { readonly followsFailure: boolean; readonly isConnectionLost: boolean; readonly deadline: number },
  ): Promise<readonly PendingCommand[]> {
    if (error instanceof HeadConflict) return commands
    // A standby answers, if only with a no.
    if (error instanceof DatabaseIsStandby || isReadOnlyError(error)) this.#stall.progressed(this.#hasCommands())
    this.#notifyObserver(() => this.#observer.failed(error))
    if (error instanceof CommitOutcomeUnknown) {
      try {
        if (await this.#isCommitted(id, deadline)) {
          this.#stall.progressed(this.#hasCommands())
          settle()
        } else if (followsFailure) return commands
        else rejectAll(commands, new Unavailable('the batch was not committed', { cause: error }))
      } catch (unknown) {
        rejectAll(commands, new Unavailable('the outcome of COMMIT is unknown', { cause: unknown }))
      }
      return []
    }
    if (error instanceof Unavailable || isConnectionLost || !isCausedByCommand(error)) {
      const unavailable = new Unavailable('the database did not accept the batch', { cause: error })
      rejectAll(commands, error instanceof Unavailable ? error : unavailable)
      return []
    }
    if (commands.length > 1) return commands.map((pending): PendingCommand => ({ ...pending, mustRunAlone: true }))
    this.#stall.progressed(this.#hasCommands())
    settleAll(commands, [{ bug: error }], this.#reportBug)
    return []
  }

  /** Asks the database whether the batch was committed, again and again until the deadline. */
  async #isCommitted(id: string, deadline: number): Promise<boolean> {
    for (;;) {
      try {
        const store = await this.#connect()
        return await withDeadline(store, deadline, store.isCommitted(id))
      } catch (error) {
        if (performance.now() > deadline || error instanceof LedgerWentBack) throw error
        await new Promise((resolve) => setTimeout(resolve, OUTCOME_RETRY_MS))
      }
    }
  }

  async #connect(): Promise<Store> {
    if (this.#store !== undefined && !this.#store.isBroken) return this.#store
    this.#store?.cut()
    this.#store = undefined
    try {
      this.#store = await Store.connect(this.#url, this.#tables, this.#recentKeys, this.#assertLedger)
      return this.#store
    } catch (error) {
      const unavailable =
        error instanceof Unavailable ? error : new Unavailable('the database cannot be reached', { cause: error })
      // All who wait would get the same; the next command tries again.
      rejectAll(this.#queue.takeAll(), unavailable)
      throw unavailable
    }
  }

  readonly #reportBug = (error: unknown, command: Command): void =>
    this.#notifyObserver(() => this.#observer.bug(error, command))

  /** An observer that throws must not fail the commands. */
  #notifyObserver(notify: () => void): void {
    try {
      notify()
    } catch (error) {
      try {
        this.#observer.failed(error)
      } catch {
        // It cannot be reported either, and callers still wait for their replies.
      }
    }
  }
}

/** Waits for the work; at the deadline, the connections are cut: a server may fall silent. */
async function withDeadline<T>(store: Store, deadline: number, work: Promise<T>): Promise<T> {
  const watchdog = setTimeout(() => store.cut(), Math.max(0, deadline - performance.now()))
  try {
    return await work
  } finally {
    clearTimeout(watchdog)
  }
}
