import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Progress } from '../../audit/ledger-scan.ts'
import { foldTrialBalance, type TrialBalance } from '../../audit/reports/trial-balance.ts'
import { auditWorker } from '../../audit/verify/audit-worker.ts'
import type { ReportDatabase } from '../../db/queries/report-database.ts'

/** A trial balance, or how far it is. */
export type PastBalance = { readonly balance: TrialBalance } | { readonly balance: null; readonly progress: Progress }

interface Limits {
  /** Folding so many events takes some 30 ms; longer ones go to the audit worker. */
  readonly inlineEvents: number
  /** How long a request waits before it says how far the fold is, unless it names a time of its own. */
  readonly waitMs: number
  /** A fold that nobody has asked for during so long is ended: whoever asked has left its page, or does not go on. */
  readonly unaskedMs: number
}
const LIMITS: Limits = { inlineEvents: 5_000, waitMs: 1_000, unaskedMs: 60_000 }

/** Folds that run at a time on an instance. */
const MAX_FOLDS = 2
/** Trial balances that are kept: those of the past never change. */
const MAX_KEPT = 100

interface Fold {
  readonly balance: Promise<TrialBalance>
  readonly abort: AbortController
  progress: Progress
  unasked: NodeJS.Timeout
}

/**
 * Trial balances of the past, folded from the ledger in the background: each request says how far that is, and the next one
 * goes on there. A fold ends when nobody asks for it any more.
 */
export class PastBalances {
  readonly #limits: Limits
  readonly #kept = new LRUCache<number, TrialBalance>({ max: MAX_KEPT })
  readonly #folds = new Map<number, Fold>()

  constructor(limits: Partial<Limits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  /** How many folds run. */
  get running(): number {
    return this.#folds.size
  }

  /** The balance, or after a moment how far it is. */
  async look(database: ReportDatabase, position: number, waitMs = this.#limits.waitMs): Promise<PastBalance> {
    const isLong = position > this.#limits.inlineEvents && !this.#kept.has(position)
    if (!isLong) return { balance: await this.#short(database, position) }
    const running = this.#folds.get(position)
    const isEnding = running?.abort.signal.aborted === true
    if (isEnding || (running === undefined && this.#folds.size >= MAX_FOLDS)) {
      // Whoever asks again at once must not keep this thread from ending the other folds.
      await sleep(waitMs)
      return { balance: null, progress: { events: 0, of: position } }
    }
    const fold = this.#foldOf(database, position)
    const late = Promise.withResolvers<null>()
    const timer = setTimeout(() => late.resolve(null), waitMs)
    try {
      const balance = await Promise.race([fold.balance, late.promise])
      return balance === null ? { balance, progress: fold.progress } : { balance }
    } finally {
      clearTimeout(timer)
    }
  }

  /** The balance, however long it takes; rejects when `signal` is aborted. */
  async whole(database: ReportDatabase, position: number, signal: AbortSignal): Promise<TrialBalance> {
    for (;;) {
      signal.throwIfAborted()
      const { balance } = await this.look(database, position)
      if (balance !== null) return balance
    }
  }

  /** Ends all folds, and waits for that. */
  async close(): Promise<void> {
    const folds = [...this.#folds.values()]
    for (const { abort } of folds) abort.abort()
    await Promise.allSettled(folds.map(({ balance }) => balance))
  }

  async #short({ db }: ReportDatabase, position: number): Promise<TrialBalance> {
    const kept = this.#kept.get(position)
    if (kept !== undefined) return kept
    const { signal } = new AbortController()
    const balance = await foldTrialBalance(db, position, { signal, onPlanned: () => {}, onScanned: () => {} })
    this.#kept.set(position, balance)
    return balance
  }

  #foldOf({ url }: ReportDatabase, position: number): Fold {
    const running = this.#folds.get(position)
    if (running !== undefined) {
      running.unasked.refresh()
      return running
    }
    const abort = new AbortController()
    const report = (progress: Progress): void => void (fold.progress = progress)
    const fold: Fold = {
      abort,
      progress: { events: 0, of: position },
      balance: auditWorker.trialBalanceAt(url, position, abort.signal, report),
      unasked: setTimeout(() => abort.abort(), this.#limits.unaskedMs),
    }
    this.#folds.set(position, fold)
    const end = (): void => {
      clearTimeout(fold.unasked)
      this.#folds.delete(position)
    }
    fold.balance.then((balance) => this.#kept.set(position, balance)).then(end, end)
    return fold
  }
}
