import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { PoolExhausted } from '../pool.ts'
import { isConnectionError, isOverload, isStatementTimeout } from '../postgres-errors.ts'
import type { Tables } from '../tables.ts'

export interface LookupLimits {
  /** Queries at a time, so that a slow one does not delay all others. */
  readonly maxQueries: number
  /** Shared with other lookups; null for none. */
  readonly slots: QuerySlots | null
  /** Keys that may wait for their query. */
  readonly maxWaiting: number
  /** How long a key may wait for its query; null for as long as it takes. */
  readonly maxWaitMs: number | null
}

/** A key that waits here does not yet wait for a connection. */
const UNSHARED_LIMITS: LookupLimits = { maxQueries: 4, slots: null, maxWaiting: 1_000, maxWaitMs: 3_000 }

const MAX_QUERIES_OF_DATABASE = 5
const slotsOfDatabases = new WeakMap<Kysely<Tables>, QuerySlots>()

/**
 * For what requests read of a database. All such lookups share some slots, so that reads of many kinds are batched too:
 * while the slots are taken, keys gather. Two slow lookups leave one slot to the others. Without shared slots an app's
 * mix of reads and gifts goes 0.85 (64 connections) and 0.81 times (256) as fast (`npm run bench -- --only reads --against`).
 */
export function requestLimits(db: Kysely<Tables>): LookupLimits {
  let slots = slotsOfDatabases.get(db)
  if (slots === undefined) slotsOfDatabases.set(db, (slots = new QuerySlots(MAX_QUERIES_OF_DATABASE)))
  return { ...UNSHARED_LIMITS, maxQueries: 2, slots }
}

/** For sockets: their number is limited, and after a restart all of them may come at once and wait for their turn. */
export const SOCKET_LIMITS: LookupLimits = {
  maxQueries: 1,
  slots: null,
  maxWaiting: Number.POSITIVE_INFINITY,
  maxWaitMs: null,
}

/** Instead of the value of a key that did not fit into a query. It is loaded by the next one, before all others. */
export const DEFERRED = Symbol('deferred')

/** How long values may be delivered, with all that their receivers do at once, before other work gets its turn. */
const MAX_DELIVERY_MS = 4

interface Member<Key, Value> {
  readonly key: Key
  /** By `performance.now()`. */
  readonly deadline: number
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

/**
 * Loads keys that are requested together with one query: those of one turn of the event loop, and those that come while
 * all queries are taken. A key never joins a query that has started, so that a read after a commit sees it. A key that
 * cannot be loaded fails alone; when the database cannot be reached, all that wait fail at once. `PoolExhausted` beyond
 * the limits.
 */
export class BatchedLookup<Key, Value> {
  readonly #maxKeys: number
  readonly #query: (keys: readonly Key[]) => Promise<readonly (Value | typeof DEFERRED)[]>
  readonly #limits: LookupLimits
  /** In the order in which they came. */
  #waiting: Member<Key, Value>[] = []
  #queries = 0
  /** Whether queries start at the end of this turn. */
  #isScheduled = false
  /** Set while keys wait that may wait for too long. */
  #deadlineTimer: NodeJS.Timeout | undefined

  /**
   * `query` gets at most `maxKeys` keys, some of which may be the same, and returns their values in that order, at least
   * that of the first.
   */
  constructor(
    maxKeys: number,
    query: (keys: readonly Key[]) => Promise<readonly (Value | typeof DEFERRED)[]>,
    limits = UNSHARED_LIMITS,
  ) {
    this.#maxKeys = maxKeys
    this.#query = query
    this.#limits = limits
  }

  load(key: Key): Promise<Value> {
    const { maxQueries, maxWaiting, maxWaitMs } = this.#limits
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= maxWaiting) {
        reject(new PoolExhausted('too many wait for a query'))
        return
      }
      const deadline = maxWaitMs === null ? Number.POSITIVE_INFINITY : performance.now() + maxWaitMs
      this.#waiting.push({ key, deadline, resolve, reject })
      if (this.#queries === maxQueries) this.#watchDeadlines()
      else if (this.#waiting.length >= this.#maxKeys) this.#startQueries()
      else this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#startQueries()
    })
  }

  readonly #startQueries = (): void => {
    const { maxQueries, slots } = this.#limits
    while (this.#queries < maxQueries && this.#waiting.length > 0) {
      if (slots !== null && !slots.take()) {
        slots.whenFree(this.#startQueries)
        break
      }
      void this.#runQuery(this.#waiting.splice(0, this.#maxKeys))
    }
    if (this.#waiting.length > 0) this.#watchDeadlines()
  }

  async #runQuery(batch: readonly Member<Key, Value>[]): Promise<void> {
    this.#queries += 1
    const results = await queryBatch(
      batch.map(({ key }) => key),
      this.#query,
    )
    this.#queries -= 1
    this.#limits.slots?.release()
    const failure = results.find((result) => result.status === 'rejected' && isOutage(result.reason))
    if (failure?.status === 'rejected') {
      for (const { reject } of this.#waiting.splice(0)) reject(failure.reason)
    }
    this.#waiting.unshift(...batch.filter((_member, i) => isDeferred(results[i])))
    if (this.#waiting.length > 0) this.#schedule()
    await deliver(batch, results)
  }

  #watchDeadlines(): void {
    const [first] = this.#waiting
    if (first === undefined || first.deadline === Number.POSITIVE_INFINITY || this.#deadlineTimer !== undefined) return
    this.#deadlineTimer = setTimeout(() => this.#refuseOverdue(), Math.max(0, first.deadline - performance.now()))
  }

  #refuseOverdue(): void {
    this.#deadlineTimer = undefined
    const now = performance.now()
    const onTime = this.#waiting.findIndex(({ deadline }) => deadline > now)
    const overdue = this.#waiting.splice(0, onTime === -1 ? this.#waiting.length : onTime)
    for (const { reject } of overdue) reject(new PoolExhausted('no query was free in time'))
    this.#watchDeadlines()
  }
}

/** Receivers need long for large values, and other work must not wait for all of them. */
async function deliver<Key, Value>(
  batch: readonly Member<Key, Value>[],
  results: readonly PromiseSettledResult<Value | typeof DEFERRED>[],
): Promise<void> {
  let started = performance.now()
  for (const [i, { resolve, reject }] of batch.entries()) {
    const result = results[i]
    if (result?.status !== 'fulfilled') reject(result?.reason)
    else if (result.value !== DEFERRED) resolve(result.value)
    // The receivers run before the time is taken.
    await Promise.resolve()
    if (performance.now() - started < MAX_DELIVERY_MS) continue
    await nextTurn()
    started = performance.now()
  }
}

const isDeferred = (result: PromiseSettledResult<unknown> | undefined): boolean =>
  result?.status === 'fulfilled' && result.value === DEFERRED

/** A statement that was too slow says nothing about the next one. */
const isOutage = (error: unknown): boolean => isConnectionError(error) && !isOverload(error)

/** Limits how many queries of several lookups run at a time. */
export class QuerySlots {
  #free: number
  /** In the order in which they came. */
  readonly #waiting = new Set<() => void>()
  #isScheduled = false

  constructor(count: number) {
    this.#free = count
  }

  /** Takes a slot if one is free. */
  take(): boolean {
    if (this.#free === 0) return false
    this.#free -= 1
    return true
  }

  /** Calls `start` once, in a later turn of the event loop, when a slot is free. */
  whenFree(start: () => void): void {
    this.#waiting.add(start)
  }

  release(): void {
    this.#free += 1
    if (this.#isScheduled || this.#waiting.size === 0) return
    this.#isScheduled = true
    // What comes in this turn shares the queries.
    setImmediate(() => {
      this.#isScheduled = false
      for (const start of this.#waiting) {
        if (this.#free === 0) return
        this.#waiting.delete(start)
        start()
      }
    })
  }
}

/** A slow key can make the statement of its batch time out; when several keys are slow alone, the database is. */
const MAX_TIMEOUTS = 2

/**
 * Loads many keys with one statement. When it fails, each key is loaded alone, so that only those that cannot be loaded
 * fail. When the database cannot be reached, no connection is free, or a second key times out alone, all remaining keys
 * fail at once.
 */
export async function queryBatch<Key, Value>(
  keys: readonly Key[],
  query: (keys: readonly Key[]) => Promise<readonly Value[]>,
): Promise<readonly PromiseSettledResult<Value>[]> {
  try {
    const values = await query(keys)
    return keys.map((_key, i) => settled(values, i))
  } catch (error) {
    if (keys.length === 1 || (isSystemic(error) && !isStatementTimeout(error)))
      return keys.map(() => ({ status: 'rejected', reason: error }))
  }
  const results: PromiseSettledResult<Value>[] = []
  let timeouts = 0
  for (const [i, key] of keys.entries()) {
    const [result] = await Promise.allSettled([query([key])])
    if (result.status === 'fulfilled') {
      results.push(settled(result.value, 0))
      continue
    }
    if (isStatementTimeout(result.reason)) timeouts += 1
    if (isStatementTimeout(result.reason) ? timeouts === MAX_TIMEOUTS : isSystemic(result.reason)) {
      return [...results, ...keys.slice(i).map(() => result)]
    }
    results.push(result)
  }
  return results
}

/** Whether a statement failed for a reason that does not depend on its keys. */
export const isSystemic = (error: unknown): boolean => isConnectionError(error) || error instanceof PoolExhausted

function settled<Value>(values: readonly Value[], i: number): PromiseSettledResult<Value> {
  const value = values[i]
  if (value === undefined) return { status: 'rejected', reason: new Error('the query returned no value for a key') }
  return { status: 'fulfilled', value }
}

interface QueriedById<Value> {
  readonly found: ReadonlyMap<number, Value>
  /** Why there is no answer for an id. */
  readonly failed: ReadonlyMap<number, unknown>
}

/** As `queryBatch`, for queries that answer by id; ids that are not found are missing. */
export async function queryByIds<Value>(
  ids: readonly number[],
  query: (ids: readonly number[]) => Promise<ReadonlyMap<number, Value>>,
): Promise<QueriedById<Value>> {
  const results = await queryBatch(ids, async (some) => {
    const values = await query(some)
    return some.map((id) => ({ value: values.get(id) }))
  })
  const found = new Map<number, Value>()
  const failed = new Map<number, unknown>()
  for (const [i, id] of ids.entries()) {
    const result = results[i]
    if (result?.status === 'rejected') failed.set(id, result.reason)
    else if (result?.value.value !== undefined) found.set(id, result.value.value)
  }
  return { found, failed }
}
