import { isConnectionError, isOverload } from '../connection-errors.ts'
import { PoolExhausted } from '../pool.ts'
import { queryBatch } from './query-batch.ts'

export interface LookupLimits {
  /** Queries at a time, so that a slow one does not delay everybody. */
  readonly maxQueries: number
  /** Keys that may wait for their query. */
  readonly maxWaiting: number
  /** How long a key may wait for its query; null for as long as it takes. */
  readonly maxWaitMs: number | null
}

/** As strict as the pool itself: who waits here does not wait for a connection yet. */
const REQUEST_LIMITS: LookupLimits = { maxQueries: 4, maxWaiting: 1_000, maxWaitMs: 3_000 }

/** For sockets: limited in number themselves, they may all come at once after a restart and then wait for their turn. */
export const SOCKET_LIMITS: LookupLimits = { maxQueries: 1, maxWaiting: Number.POSITIVE_INFINITY, maxWaitMs: null }

interface Member<Key, Value> {
  readonly key: Key
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

/**
 * Loads keys that are requested together with one query: those that come while all queries are taken go with the next
 * one. A key never joins a query that has started, so that a read after a commit sees it. A key that cannot be loaded
 * fails alone; when the database cannot be reached, all that wait fail at once. `PoolExhausted` beyond the limits.
 */
export class BatchedLookup<Key, Value> {
  readonly #maxKeys: number
  readonly #query: (keys: readonly Key[]) => Promise<readonly Value[]>
  readonly #limits: LookupLimits
  /** In the order in which they came, with their deadlines. Empty unless all queries are taken. */
  readonly #waiting = new Map<Member<Key, Value>, NodeJS.Timeout | undefined>()
  #queries = 0

  /** `query` gets at most `maxKeys` keys, some of which may be the same, and returns their values in that order. */
  constructor(maxKeys: number, query: (keys: readonly Key[]) => Promise<readonly Value[]>, limits = REQUEST_LIMITS) {
    this.#maxKeys = maxKeys
    this.#query = query
    this.#limits = limits
  }

  load(key: Key): Promise<Value> {
    const { maxQueries, maxWaiting } = this.#limits
    return new Promise((resolve, reject) => {
      const member = { key, resolve, reject }
      if (this.#queries < maxQueries) void this.#runQueries(member)
      else if (this.#waiting.size < maxWaiting) this.#waiting.set(member, this.#deadlineOf(member))
      else reject(new PoolExhausted('too many wait for a query'))
    })
  }

  #deadlineOf(member: Member<Key, Value>): NodeJS.Timeout | undefined {
    const { maxWaitMs } = this.#limits
    if (maxWaitMs === null) return undefined
    return setTimeout(() => {
      this.#waiting.delete(member)
      member.reject(new PoolExhausted('no query was free in time'))
    }, maxWaitMs)
  }

  /** Queries for a key, and then for those that wait until none does. */
  async #runQueries(first: Member<Key, Value>): Promise<void> {
    this.#queries += 1
    for (let batch = [first]; batch.length > 0; batch = this.#takeWaiting(this.#maxKeys)) {
      const results = await queryBatch(
        batch.map(({ key }) => key),
        this.#query,
      )
      for (const [i, { resolve, reject }] of batch.entries()) {
        const result = results[i]
        if (result?.status === 'fulfilled') resolve(result.value)
        else reject(result?.reason)
      }
      const failure = results.find((result) => result.status === 'rejected' && isOutage(result.reason))
      if (failure?.status === 'rejected') {
        for (const { reject } of this.#takeWaiting(this.#waiting.size)) reject(failure.reason)
      }
    }
    this.#queries -= 1
  }

  #takeWaiting(count: number): Member<Key, Value>[] {
    const members: Member<Key, Value>[] = []
    for (const [member, deadline] of this.#waiting) {
      if (members.length === count) break
      clearTimeout(deadline)
      this.#waiting.delete(member)
      members.push(member)
    }
    return members
  }
}

/** A statement that was too slow says nothing about the next one. */
const isOutage = (error: unknown): boolean => isConnectionError(error) && !isOverload(error)
