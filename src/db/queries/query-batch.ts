import { isConnectionError, isStatementTimeout } from '../connection-errors.ts'
import { PoolExhausted } from '../pool.ts'

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

export interface QueriedById<Value> {
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
