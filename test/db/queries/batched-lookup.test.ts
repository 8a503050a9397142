import { test } from 'tap'
import { PoolExhausted } from '../../../src/db/pool.ts'
import { BatchedLookup, DEFERRED, type LookupLimits, SOCKET_LIMITS } from '../../../src/db/queries/batched-lookup.ts'
import { until } from '../../harness/until.ts'

const oneQuery: LookupLimits = { maxQueries: 1, slots: null, maxWaiting: 10, maxWaitMs: null }

/** Queries that the test ends, with values or an error. */
function slowQuery() {
  const asked: (readonly number[])[] = []
  const ends: ((error?: Error) => void)[] = []
  const query = (keys: readonly number[]): Promise<readonly number[]> => {
    asked.push(keys)
    return new Promise((resolve, reject) =>
      ends.push((error) => (error === undefined ? resolve(keys.map((key) => key * 10)) : reject(error))),
    )
  }
  /** Ends the query that started as the `i`th. */
  return { asked, query, end: (i: number, error?: Error) => ends[i]?.(error) }
}

/** When the queries of this turn of the event loop have started. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('keys of one turn share a query, those that come while it runs share the next one, up to a limit', async (t) => {
  const { asked, query, end } = slowQuery()
  const lookup = new BatchedLookup(3, query, oneQuery)
  const first = [1, 2].map((key) => lookup.load(key))
  t.same(asked, [], 'the turn is not over')
  await nextTurn()
  t.same(asked, [[1, 2]])
  const others = [3, 4, 4, 5].map((key) => lookup.load(key))
  await nextTurn()
  t.same(asked, [[1, 2]], 'one query at a time')
  end(0)
  t.same(await Promise.all(first), [10, 20])
  await nextTurn()
  t.same(asked, [
    [1, 2],
    [3, 4, 4],
  ])
  end(1)
  t.same(await Promise.all(others.slice(0, 3)), [30, 40, 40])
  await nextTurn()
  t.same(asked.slice(2), [[5]])
  end(2)
  t.equal(await others[3], 50)
  const later = lookup.load(6)
  await nextTurn()
  end(3)
  t.equal(await later, 60, 'it also works after a pause')
})

test('a key never joins a query that has begun, not even one for the same key', async (t) => {
  let stored = 'before'
  const reads: ((value: string) => void)[] = []
  const query = async (keys: readonly number[]) => {
    const seen = stored
    await new Promise<string>((resolve) => reads.push(resolve))
    return keys.map(() => seen)
  }
  const lookup = new BatchedLookup(10, query, oneQuery)
  const early = lookup.load(1)
  await nextTurn()
  stored = 'after'
  const late = lookup.load(1)
  reads.shift()?.('')
  t.equal(await early, 'before')
  await until(() => reads.length > 0)
  reads.shift()?.('')
  t.equal(await late, 'after')
})

test('a key that did not fit into a query is in the next one, before keys that came later', async (t) => {
  const asked: (readonly number[])[] = []
  const lookup = new BatchedLookup(
    3,
    async (keys: readonly number[]) => {
      asked.push(keys)
      return keys.map((key, i) => (i > 0 && key < 10 ? DEFERRED : key * 10))
    },
    oneQuery,
  )
  t.same(await Promise.all([1, 2, 30, 3, 4].map((key) => lookup.load(key))), [10, 20, 300, 30, 40])
  t.same(asked, [[1, 2, 30], [2, 3, 4], [3, 4], [4]])
})

test('a query that hangs delays only its own keys', async (t) => {
  const { asked, query, end } = slowQuery()
  const lookup = new BatchedLookup(100, query)
  const loads: Promise<number>[] = []
  for (const key of [1, 2, 3, 4, 5, 6]) {
    loads.push(lookup.load(key))
    await nextTurn()
  }
  t.same(asked, [[1], [2], [3], [4]], 'four at a time')
  end(1)
  t.equal(await loads[1], 20)
  await nextTurn()
  t.same(asked.slice(4), [[5, 6]])
  for (const i of [2, 3, 4]) end(i)
  t.same(await Promise.all(loads.slice(1)), [20, 30, 40, 50, 60])
  const later = lookup.load(7)
  await nextTurn()
  end(5)
  t.equal(await later, 70)
  end(0)
  t.equal(await loads[0], 10)
})

test('above the limit keys are refused at once, but not those of sockets', async (t) => {
  const { asked, query, end } = slowQuery()
  const lookup = new BatchedLookup(100, query)
  const loads = Array.from({ length: 1_400 }, (_, i) => lookup.load(i))
  t.equal(asked.length, 4)
  await t.rejects(async () => lookup.load(1_400), new PoolExhausted('too many wait for a query'))
  end(0)
  t.equal(await loads[0], 0)
  await nextTurn()
  t.equal(asked[4]?.length, 100, 'no other key is refused')
  const late = lookup.load(1_400)
  for (let i = 1; i < 15; i += 1) {
    await until(() => asked.length > i)
    end(i)
  }
  await Promise.all(loads)
  t.equal(await late, 14_000)

  const sockets = slowQuery()
  const socketLookup = new BatchedLookup(1_000, sockets.query, SOCKET_LIMITS)
  const all = Promise.all(Array.from({ length: 2_001 }, (_, i) => socketLookup.load(i)))
  for (const i of [0, 1, 2]) {
    await until(() => sockets.asked.length === i + 1)
    sockets.end(i)
  }
  t.equal((await all).length, 2_001)
})

test('receivers of large values do not keep other work from its turn', async (t) => {
  const lookup = new BatchedLookup(10, async (keys: readonly number[]) => keys)
  let turns = 0
  const counting = setInterval(() => (turns += 1), 1)
  t.teardown(() => clearInterval(counting))
  const turnsAt = await Promise.all(
    Array.from({ length: 10 }, async (_, i) => {
      await lookup.load(i)
      const until = performance.now() + 5
      while (performance.now() < until);
      return turns
    }),
  )
  t.ok((turnsAt.at(-1) ?? 0) - (turnsAt[0] ?? 0) >= 3, turnsAt.join(' '))
})

test('a key that has waited too long is refused and not queried', async (t) => {
  const { asked, query, end } = slowQuery()
  const lookup = new BatchedLookup(10, query, { ...oneQuery, maxWaitMs: 20 })
  const running = lookup.load(1)
  await nextTurn()
  const late = [2, 3].map((key) => lookup.load(key))
  const refused = { status: 'rejected', reason: new PoolExhausted('no query was free in time') }
  t.match(await Promise.allSettled(late), [refused, refused])
  const next = lookup.load(4)
  end(0)
  t.equal(await running, 10, 'a started query is awaited')
  await nextTurn()
  end(1)
  t.equal(await next, 40)
  t.same(asked, [[1], [4]])
})

test('when the database cannot be reached, all that wait fail at once; not when a statement was too slow', async (t) => {
  const connectionError = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const { asked, query, end } = slowQuery()
  const lookup = new BatchedLookup(2, query, oneQuery)
  const loads = [1, 2, 3, 4, 5].map((key) => lookup.load(key))
  await nextTurn()
  end(0, connectionError)
  const failed = { status: 'rejected', reason: connectionError }
  t.match(await Promise.allSettled(loads), [failed, failed, failed, failed, failed])
  t.same(asked, [[1, 2]])

  const slow = lookup.load(6)
  await nextTurn()
  const next = lookup.load(7)
  end(1, Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' }))
  await t.rejects(slow, { code: '57014' })
  await nextTurn()
  end(2)
  t.equal(await next, 70)
})
