import { randomUUID } from 'node:crypto'
import { DatabaseError } from 'pg'
import { type Batch, type Outcome, runBatch } from './batch.ts'
import type { Command, Reply } from './command.ts'
import type { Evolve } from './evolve.ts'
import type { RowTable } from './row-table.ts'
import type { Rows } from './state.ts'
import { LostCommit, Store } from './store.ts'

/** The queue is full: nothing was done, come back later. */
export class Overloaded extends Error {}

/**
 * The database is away. Usually nothing was done; when the answer to COMMIT stayed lost for too long it is not
 * known here, and the same request under the same idempotency key tells.
 */
export class Unavailable extends Error {}

/** The executor is shutting down: nothing was done. */
export class Closed extends Error {}

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
  committed(batch: { readonly commands: number; readonly position: number; readonly seconds: number }): void
  /** A command met a bug; its caller gets an error, its neighbours do not notice. */
  bug(error: unknown, command: Command): void
  /** The database did not take a batch. */
  trouble(error: unknown): void
}

interface Waiting {
  readonly command: Command
  readonly resolve: (settled: Settled) => void
  readonly reject: (error: Error) => void
}

export interface Settled {
  readonly reply: Reply
  readonly replayed: boolean
}

/**
 * Data that PostgreSQL does not take (classes 22 and 23) and errors of our own come from one of the commands;
 * all else (a lock, a time limit, a full disk, a shutdown) says nothing about them.
 */
const blamesACommand = (error: unknown): boolean =>
  !(error instanceof DatabaseError) || error.code === undefined || /^2[23]/.test(error.code)

/**
 * One line for all commands: what has queued up runs as one transaction, in the order of arrival. A lone
 * command goes at once, so there is no timer; under load batches grow by themselves.
 */
export class Executor {
  readonly #url: string
  readonly #tables: readonly RowTable[]
  readonly #evolve: Evolve
  readonly #observer: Observer
  readonly #limits: Limits
  readonly #queue: Waiting[] = []
  #store: Store | undefined
  #draining = false
  #running: Promise<void> = Promise.resolve()
  #closed = false

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
  run(command: Command): Promise<Settled> {
    if (this.#closed) return Promise.reject(new Closed('shutting down'))
    if (this.#queue.length >= this.#limits.queue) return Promise.reject(new Overloaded('the queue is full'))
    return new Promise((resolve, reject) => {
      this.#queue.push({ command, resolve, reject })
      if (!this.#draining) this.#running = this.#drain()
    })
  }

  /** Takes no more; what was accepted finishes. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
    await this.#store?.close()
    this.#store = undefined
  }

  async #drain(): Promise<void> {
    this.#draining = true
    // Commands that arrive in the same turn of the event loop go together.
    await Promise.resolve()
    while (this.#queue.length > 0) {
      const batch = this.#take()
      try {
        await this.#runTogether(batch)
      } catch (error) {
        // A fault in here or in the observer: nobody may be left without an answer, and the line goes on.
        this.#fail(batch, new Error('the executor failed', { cause: error }))
      }
    }
    // In the same turn as the look at the queue: whoever comes later starts anew.
    this.#draining = false
  }

  #take(): Waiting[] {
    let count = 0
    let rows = 0
    for (const { command } of this.#queue) {
      rows += command.reads.length
      if (count > 0 && (count >= this.#limits.batch || rows > this.#limits.rows)) break
      count += 1
    }
    return this.#queue.splice(0, count)
  }

  async #runTogether(batch: readonly Waiting[]): Promise<void> {
    let settled: readonly Outcome[]
    try {
      settled = await this.#attempt(batch.map(({ command }) => command))
    } catch (error) {
      this.#observer.trouble(error)
      if (error instanceof Unavailable) {
        this.#fail(batch, error)
      } else if (batch.length > 1) {
        // Nothing of the batch happened, and one of its commands is why: alone, it fails alone.
        for (const waiting of batch) await this.#runTogether([waiting])
      } else {
        this.#settle(batch, [{ bug: error }])
      }
      return
    }
    this.#settle(batch.slice(0, settled.length), settled)
    this.#queue.unshift(...batch.slice(settled.length))
  }

  /** One transaction. Throws `Unavailable`, or whatever PostgreSQL had against it; then nothing happened. */
  async #attempt(commands: readonly Command[]): Promise<readonly Outcome[]> {
    const started = performance.now()
    const { store, batch, rows } = await this.#transact(commands)
    // It has happened: nothing from here on may look as if it had not.
    store.keep(rows, batch.head)
    const seconds = (performance.now() - started) / 1000
    this.#tell({ commands: batch.outcomes.length, position: batch.head.position, seconds })
    return batch.outcomes
  }

  async #transact(commands: readonly Command[]): Promise<{ store: Store; batch: Batch; rows: Rows }> {
    const store = await this.#connected()
    const watchdog = setTimeout(() => store.cut(), this.#limits.patienceMs)
    try {
      const { head, now, rows, remembered } = await store.begin(commands)
      const batch = runBatch(commands, rows, remembered, head, now, this.#evolve)
      if (batch.entries.length === 0 && batch.replies.length === 0 && !rows.dirty) await store.rollback()
      else await this.#commit(store, batch, rows)
      return { store, batch, rows }
    } catch (error) {
      if (!store.broken) await store.rollback().catch(() => store.cut())
      if (error instanceof Unavailable || (!store.broken && blamesACommand(error))) throw error
      throw new Unavailable('the database did not take the batch', { cause: error })
    } finally {
      clearTimeout(watchdog)
    }
  }

  #tell(batch: Parameters<Observer['committed']>[0]): void {
    try {
      this.#observer.committed(batch)
    } catch (error) {
      this.#observer.trouble(error)
    }
  }

  async #commit(store: Store, batch: Batch, rows: Rows): Promise<void> {
    const id = randomUUID()
    try {
      await store.commit(id, batch, rows)
    } catch (error) {
      if (!(error instanceof LostCommit)) throw error
      if (!(await this.#happened(store, id))) throw new Unavailable('the batch did not happen', { cause: error })
    }
  }

  /** Asks the database whether the batch happened, for as long as its callers can be expected to wait. */
  async #happened(lost: Store, id: string): Promise<boolean> {
    lost.cut()
    const until = performance.now() + this.#limits.patienceMs
    for (;;) {
      try {
        const store = await this.#connected()
        // A server may also fall silent here.
        const watchdog = setTimeout(() => store.cut(), Math.max(0, until - performance.now()))
        try {
          return await store.committed(id)
        } finally {
          clearTimeout(watchdog)
        }
      } catch (error) {
        if (performance.now() > until) throw new Unavailable('the answer to COMMIT stayed lost', { cause: error })
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }

  async #connected(): Promise<Store> {
    if (this.#store !== undefined && !this.#store.broken) return this.#store
    this.#store = undefined
    try {
      this.#store = await Store.connect(this.#url, this.#tables)
      return this.#store
    } catch (error) {
      const away = new Unavailable('the database is away', { cause: error })
      // Whoever waits would find the same; the next command tries again.
      this.#fail(this.#queue.splice(0), away)
      throw away
    }
  }

  #settle(batch: readonly Waiting[], outcomes: readonly Outcome[]): void {
    batch.forEach(({ command, resolve, reject }, i) => {
      const outcome = outcomes[i]
      if (outcome !== undefined && 'reply' in outcome) {
        resolve(outcome)
      } else {
        const bug = outcome?.bug
        this.#observer.bug(bug, command)
        reject(bug instanceof Error ? bug : new Error('the command failed', { cause: bug }))
      }
    })
  }

  #fail(waiting: readonly Waiting[], error: Error): void {
    for (const { reject } of waiting) reject(error)
  }
}
